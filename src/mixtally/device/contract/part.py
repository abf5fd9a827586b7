"""A part of a plan, as a device needs it: one stream of messages.

A *fake* is a dummy message. A *hop* is a mix at its position in the chain.
"""

from typing import NamedTuple

from mixtally.device.contract.fields import Fields, make_refusal, whole
from mixtally.device.contract.planes import (
    LARGEST_PRIME,
    MOST_MESSAGES,
    MOST_WIDE_MESSAGES,
    Planes,
    digits_for,
    is_prime,
    most_digits,
)
from mixtally.device.contract.question import MOST_BINS, MOST_BITS, MOST_SET
from mixtally.device.contract.shape import MOST_SHIFT, MOST_VARIANCE, PAIRED, SHAPES

SCALE = 1 << 64
MOST_CAP = 0xFFFF
MOST_OWN = 1000
MOST_REPEATS = 1000
LEAST_FLIP, MOST_FLIP = 1 << 24, 1 << 63


class Layout(NamedTuple):
    """A message format; ``form`` is bits, index or positions."""

    form: str
    bins: int
    cap: int | None

    @property
    def position_bits(self) -> int:
        """The number of bits that are needed for the number of any bin."""
        return (self.bins - 1).bit_length()

    @property
    def count_bytes(self) -> int:
        """The number of bytes in which a message says how many positions it names."""
        return _count_bytes((self.cap or 0).bit_length())

    @property
    def message_bytes(self) -> int:
        """The length of every message, in bytes."""
        if self.form == "bits":
            return _count_bytes(self.bins)
        if self.form == "index":
            return _count_bytes(self.position_bits)
        return self.count_bytes + _count_bytes((self.cap or 0) * self.position_bits)


class Own(NamedTuple):
    """The fakes of a device: ``whole`` fakes, and one more with probability ``coin`` / 2^64.

    They are records of uniform bins if ``uniform``, and otherwise records with no bit set.
    """

    uniform: bool
    whole: int
    coin: int


class Recipe(NamedTuple):
    """The fakes that a hop adds; ``kind`` is none, blanks, uniform or one of ``SHAPES``.

    The meaning of ``first`` and ``second`` depends on the kind: ratio and shift (shaped, paired),
    variance and shift (gaussian, paired-gaussian), count and flip threshold (blanks), or only the
    count (uniform). The module ``shape`` defines ratio, shift and variance.
    """

    kind: str
    first: int = 0
    second: int = 0


class ContractPart(NamedTuple):
    """One stream of messages.

    Attributes
    ----------
    bins : int
        The number of bins, bits or points of a record.
    most_set : int or None
        The maximum number of bins in a record. None if all bits of a record may be set.
    threshold : int or None
        The flip probability times 2^64. None for messages in clear.
    layout : Layout
        The message format. For sets in clear over bins it has ``most_set`` additional bins at the
        end, the pads, which are sent for missing members. Over planes the pads are points.
    repeats : int
        How often a record is sent, each time with new flips.
    planes : Planes or None
        The planes that a message in clear names in place of a bin.
    replaced : int or None
        The probability that a uniform bin replaces a value, times 2^64. None for never.
    slots : int or None
        The number of bins that a device draws anew each time, out of the ``most_set`` different
        bins of a record, and sends. None if it sends all of them. The layout has no pads if every
        record has exactly ``most_set`` bins.
    """

    bins: int
    most_set: int | None
    threshold: int | None
    own: Own | None
    recipe: Recipe
    layout: Layout
    repeats: int
    planes: Planes | None = None
    replaced: int | None = None
    slots: int | None = None

    @property
    def by_mixes(self) -> bool:
        """Whether every hop draws fakes, which are then the cover."""
        return self.recipe.kind != "none"

    @property
    def is_full(self) -> bool:
        """Whether slots are sampled from records that all have exactly ``most_set`` bins."""
        return self.slots is not None and self.layout.bins == self.bins

    @property
    def record_messages(self) -> int:
        """The number of messages of a record.

        In clear a set has one for each member and pad, or for each slot that is sent.
        """
        if self.slots is not None:
            return self.slots
        return self.repeats if self.threshold is not None else self.most_set or 1

    @property
    def least(self) -> int:
        """The minimum number of messages that a device sends."""
        return self.record_messages + (self.own.whole if self.own else 0)

    @property
    def most(self) -> int:
        """The maximum number of messages that a device sends: the slots of the part in a bundle."""
        return self.least + (self.own is not None and self.own.coin > 0)

    @property
    def most_fakes(self) -> int:
        """The maximum number of fakes that a hop adds."""
        kind, first, second = self.recipe
        if kind not in SHAPES:
            return first
        bins = self.layout.bins // 2 if kind in PAIRED else self.layout.bins
        return (len(SHAPES[kind](first, second)) - 1) * bins

    def most_sent(self, bundles: int, hops: int) -> tuple[int, ...]:
        """Return the maximum number of messages that leave each hop, in the order of hops.

        Parameters
        ----------
        bundles : int
            The maximum number of bundles of a round.
        hops : int
            The number of hops, each of which adds fakes.
        """
        return tuple(bundles * self.most + hop * self.most_fakes for hop in range(1, hops + 1))

    @property
    def protocol(self) -> str:
        """The public name of the mechanism."""
        if self.replaced is not None:
            return "kary-response"
        if self.threshold is None:
            return "clear-shaped" if self.recipe.kind in SHAPES else "clear-uniform"
        if self.own and self.own.uniform:
            return "flip-uniform"
        if self.most_set is None and self.bins == 1:
            return "single-bit"
        return "flip-blank" if self.own or self.by_mixes else "flip"


def read_part(value: object, place: str) -> ContractPart:
    """Read a part; raise RefusedError if there is no proof for its combination of fields.

    Parameters
    ----------
    value : object
        The decoded JSON of the part.
    place : str
        Where the part is in its document, for error messages.
    """
    names = "bins most_set threshold planes own recipe layout repeats replaced slots"
    fields = Fields(value, place, names)
    layout = _read_layout(fields.values["layout"], fields.at("layout"))
    recipe = _read_recipe(fields.values["recipe"], fields.at("recipe"))
    own = (
        None if fields.values["own"] is None else _read_own(fields.values["own"], fields.at("own"))
    )
    planes = (
        None if fields.values["planes"] is None else _read_planes(fields.values["planes"], fields)
    )
    most_set: int | None = None
    if fields.values["most_set"] is None:
        bins = fields.whole("bins", 1, MOST_BITS, "bins-out-of-range")
    else:
        most = MOST_BINS if planes is None else planes.points
        bins = fields.whole("bins", 2, most, "bins-out-of-range")
        most = MOST_SET if fields.values["slots"] is None else MOST_BITS
        most_set = fields.whole("most_set", 1, min(most, bins), "most-set-out-of-range")
    threshold = None if fields.values["threshold"] is None else _read_threshold(fields)
    repeats = fields.whole("repeats", 1, MOST_REPEATS, "repeats-out-of-range")
    replaced: int | None = None
    if fields.values["replaced"] is not None:
        replaced = fields.whole("replaced", 1, SCALE - 1, "replaced-out-of-range")
    slots: int | None = None
    if fields.values["slots"] is not None:
        if most_set is None or most_set == 1:
            raise make_refusal("slots-unfit", place, "slots of a record of several bins", most_set)
        slots = fields.whole("slots", 1, most_set - 1, "slots-out-of-range")
    part = ContractPart(
        bins, most_set, threshold, own, recipe, layout, repeats, planes, replaced, slots
    )
    if slots is not None:
        _check_slots(part, place)
    named = bins + _count_pads(part) if planes is None else planes.messages
    if layout.bins != named:
        raise make_refusal("layout-bins", place, f"a layout of {named} bins", layout.bins)
    if own is not None and part.by_mixes:
        raise make_refusal("two-covers", place, "fakes of devices or of hops", "both")
    if repeats > 1 and (threshold is None or own is not None or part.by_mixes):
        raise make_refusal(
            "repeats-unfit", place, "flips alone that are sent several times", repeats
        )
    if threshold is None:
        _check_clear(part, place)
    else:
        _check_flips(part, place, threshold)
    return part


def _read_layout(value: object, place: str) -> Layout:
    fields = Fields(value, place, "form bins cap")
    form = fields.choice("form", "bits|index|positions", "unknown-form")
    bins = fields.whole("bins", 1, MOST_WIDE_MESSAGES, "layout-bins")
    if fields.values["cap"] is None:
        if form == "positions":
            raise make_refusal("cap-missing", place, "a cap, which the form positions needs", None)
        return Layout(form, bins, None)
    cap = whole(fields.values["cap"], fields.at("cap"))
    if form == "index":
        raise make_refusal("cap-with-index", place, "no cap, because one bin is named", cap)
    most = min(bins, MOST_CAP) if form == "positions" else bins
    if cap < 1:
        raise make_refusal("cap-below-one", place, "a cap of at least 1", cap)
    if cap > most:
        raise make_refusal("cap-too-large", place, f"a cap of at most {most}", cap)
    return Layout(form, bins, cap)


def _read_recipe(value: object, place: str) -> Recipe:
    kinds = {
        "none": "",
        "shaped": " ratio shift",
        "gaussian": " variance shift",
        "paired": " ratio shift",
        "paired-gaussian": " variance shift",
        "blanks": " count threshold",
        "uniform": " count",
    }
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in kinds:
        raise make_refusal("unknown-recipe", place, f"one of {', '.join(kinds)}", kind)
    fields = Fields(value, place, "type" + kinds[kind])
    if kind == "none":
        return Recipe(kind)
    if kind in ("shaped", "paired"):
        return Recipe(
            kind, fields.whole("ratio", 1, SCALE - 1, "ratio-out-of-range"), _read_shift(fields)
        )
    if kind in SHAPES:
        variance = fields.whole("variance", 1, MOST_VARIANCE, "variance-out-of-range")
        return Recipe(kind, variance, _read_shift(fields))
    count = fields.whole("count", 1, 10_000_000_000, "count-out-of-range")
    return Recipe(kind, count, _read_threshold(fields) if kind == "blanks" else 0)


def _read_planes(value: object, part: Fields) -> Planes:
    fields = Fields(value, part.at("planes"), "prime digits")
    prime = fields.whole("prime", 2, LARGEST_PRIME, "prime-out-of-range")
    digits = fields.whole("digits", 2, 62, "digits-out-of-range")
    if not is_prime(prime):
        raise make_refusal("not-prime", fields.at("prime"), "a prime", prime)
    planes = Planes(prime, digits)
    if planes.messages > MOST_WIDE_MESSAGES:
        expected = "at most 2^127 messages"
        raise make_refusal("planes-too-many", part.at("planes"), expected, [*planes])
    return planes


def _read_shift(fields: Fields) -> int:
    return fields.whole("shift", 1, MOST_SHIFT, "shift-out-of-range")


def _read_own(value: object, place: str) -> Own:
    fields = Fields(value, place, "record whole coin")
    uniform = fields.choice("record", "blank|uniform", "unknown-fake") == "uniform"
    many = fields.whole("whole", 0, MOST_OWN, "own-fakes-out-of-range")
    coin = whole(fields.values["coin"], fields.at("coin"))
    if coin < 0:
        raise make_refusal("coin-below-zero", fields.at("coin"), "a coin of at least 0", coin)
    if coin >= SCALE:
        raise make_refusal("coin-too-large", fields.at("coin"), "a coin below 2^64", coin)
    if not many and not coin:
        raise make_refusal("own-fakes-none", place, "at least one fake, or null", "no fakes")
    return Own(uniform, many, coin)


def _read_threshold(fields: Fields) -> int:
    return fields.whole("threshold", LEAST_FLIP, MOST_FLIP, "threshold-out-of-range")


def _count_pads(part: ContractPart) -> int:
    """Return the number of additional bins that are sent for missing members of a set in clear."""
    most = part.most_set or 1
    return most if part.threshold is None and most > 1 and not part.is_full else 0


def _check_slots(part: ContractPart, place: str) -> None:
    """Raise RefusedError unless a proof covers a part that sends only some bins of a record."""
    most = part.most_set or 1
    is_in_clear = part.planes is None and part.replaced is None and part.threshold is None
    if not is_in_clear or part.recipe.kind in SHAPES:
        expected = "slots of bins in clear among uniform fakes"
        raise make_refusal("slots-unfit", place, expected, "planes, shapes, or noise of its own")
    if part.is_full and part.bins < 2 * most:
        raise make_refusal("slots-unfit", place, f"two bins for each of {most} slots", part.bins)
    if not part.is_full and most > MOST_SET:
        raise make_refusal("most-set-out-of-range", place, f"at most {MOST_SET}", most)


def _check_clear(part: ContractPart, place: str) -> None:
    if part.most_set is None or part.layout.form != "index":
        raise make_refusal(
            "clear-not-index", place, "bins in clear, as their numbers", part.layout.form
        )
    covered = part.own is not None or part.recipe.kind in SHAPES or part.planes is not None
    if part.most_set > 1 and not covered and part.replaced is None and part.slots != 1:
        expected = "uniform fakes of devices, shaped ones of hops, or replaced members, for a set"
        raise make_refusal("set-uncovered", place, expected, part.recipe.kind)
    if part.replaced is not None and part.by_mixes:
        raise make_refusal("replaced-unfit", place, "replaced values without fakes of hops", "both")
    blank = part.own is not None and not part.own.uniform
    if blank or part.recipe.kind == "blanks":
        raise make_refusal(
            "clear-uncovered", place, "uniform fakes among bins in clear", "blank ones"
        )
    if part.own is None and not part.by_mixes and part.replaced is None:
        raise make_refusal("clear-uncovered", place, "shaped fakes, or uniform ones", "none")
    if part.planes is None:
        if part.recipe.kind in PAIRED and part.layout.bins != 2:
            raise make_refusal(
                "paired-unfit", place, "two bins for fakes with a fixed total", part.layout.bins
            )
        return
    if part.recipe.kind in SHAPES:
        raise make_refusal(
            "planes-among-shaped", place, "uniform fakes among planes", "shaped ones"
        )
    prime, digits = part.planes
    if part.most_set > 1:
        _check_set(part, part.planes, part.most_set, place)
    elif part.planes.messages > MOST_MESSAGES:
        raise make_refusal(
            "planes-too-many", place, "at most 2^63 messages for single values", [*part.planes]
        )
    elif part.bins <= prime or digits != digits_for(prime, part.bins):
        expected = f"the fewest digits, two or more, in which {part.bins} values can be written"
        raise make_refusal("digits-unfit", place, expected, f"{digits} in base {prime}")


def _check_set(part: ContractPart, planes: Planes, most: int, place: str) -> None:
    """Raise RefusedError unless the planes fit sets of at most ``most`` members."""
    prime, digits = planes
    if prime < 2 * most:
        raise make_refusal("planes-below-set", place, f"a prime of at least {2 * most}", prime)
    short, long = most_digits(prime), most_digits(prime, MOST_WIDE_MESSAGES)
    fits = digits == long or (digits == short and short > most)
    if part.bins <= prime or not fits:
        expected = f"as many digits as leave 2^127 messages, or 2^63 and more than {most} digits"
        raise make_refusal("digits-unfit", place, expected, f"{digits} in base {prime}")


def _check_flips(part: ContractPart, place: str, threshold: int) -> None:
    layout, most = part.layout, part.most_set
    if part.replaced is not None:
        raise make_refusal("replaced-unfit", place, "values replaced or bits flipped", "both")
    # A bit that is flipped with probability 1/2 is independent of the answer.
    if threshold * 2 == SCALE:
        raise make_refusal("threshold-half", place, "flips that leave something to count", "half")
    if layout.form == "index":
        raise make_refusal(
            "flips-as-index", place, "flipped bits, packed or as positions", layout.form
        )
    if layout.cap is not None and layout.cap < (most or part.bins):
        raise make_refusal(
            "cap-below-record", place, "a cap of no less than a record sets", layout.cap
        )
    if part.planes is not None:
        raise make_refusal(
            "planes-flipped", place, "no planes where bits are flipped", [*part.planes]
        )
    # Fakes must be flipped with the same probability as records, or they could be distinguished.
    flips = part.recipe.second if part.recipe.kind == "blanks" else threshold
    if part.recipe.kind in (*SHAPES, "uniform") or flips != threshold:
        raise make_refusal(
            "recipe-unfit", place, "blanks of hops, flipped as records are", part.recipe.kind
        )
    if part.own and part.own.uniform and most != 1:
        raise make_refusal("uniform-fakes-unfit", place, "uniform fakes where one bin is set", most)
    if (part.own or part.by_mixes) and most is None and part.bins > 1:
        raise make_refusal("free-bits-among-fakes", place, "free bits one by one", part.bins)


def _count_bytes(bits: int) -> int:
    return -(-bits // 8)
