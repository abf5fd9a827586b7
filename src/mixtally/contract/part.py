"""One stream of messages of a contract, as a device needs it."""

from typing import NamedTuple

from mixtally.contract.question import MOST_BINS, MOST_BITS, MOST_SET
from mixtally.contract.reading import Fields, refused, whole

SCALE = 1 << 64
MOST_CAP = 0xFFFF
MOST_OWN = 1000
MOST_REPEATS = 1000
LEAST_FLIP, MOST_FLIP = 1 << 24, 1 << 63


class Layout(NamedTuple):
    """How a message is written: ``form`` is bits, index or positions."""

    form: str
    bins: int
    cap: int | None

    @property
    def position_bits(self) -> int:
        """Bits in which every bin's number can be written."""
        return (self.bins - 1).bit_length()

    @property
    def count_bytes(self) -> int:
        """Bytes in which a message says how many positions it names."""
        return _bytes((self.cap or 0).bit_length())

    @property
    def message_bytes(self) -> int:
        """Bytes of every message."""
        if self.form == "bits":
            return _bytes(self.bins)
        if self.form == "index":
            return _bytes(self.position_bits)
        return self.count_bytes + _bytes((self.cap or 0) * self.position_bits)


class Own(NamedTuple):
    """Fakes of the device: ``whole`` ones, and one more with probability coin / 2^64."""

    uniform: bool
    whole: int
    coin: int


class Recipe(NamedTuple):
    """What a hop adds.

    where
      kind            none, shaped or blanks
      first, second   ratio and shift, or count and threshold
    """

    kind: str
    first: int = 0
    second: int = 0


class Part(NamedTuple):
    """A stream of messages.

    where
      most_set    the most bins of a record; None for free bits
      threshold   the chance of a flip times 2^64; None in clear
      layout      of a set in clear ``most_set`` bins more than there are: the last ones are pads
      repeats     how often a record is sent, each time flipped afresh
    """

    bins: int
    most_set: int | None
    threshold: int | None
    own: Own | None
    recipe: Recipe
    layout: Layout
    repeats: int

    @property
    def by_mixes(self) -> bool:
        """Whether every hop draws the cover."""
        return self.recipe.kind != "none"

    @property
    def record_messages(self) -> int:
        """Messages that a record travels as: of a set in clear one a member, pads for those it
        lacks.
        """
        return self.repeats if self.threshold is not None else self.most_set or 1

    @property
    def least(self) -> int:
        """The fewest messages that a device sends."""
        return self.record_messages + (self.own.whole if self.own else 0)

    @property
    def most(self) -> int:
        """The most messages that a device sends."""
        return self.least + (self.own is not None and self.own.coin > 0)

    @property
    def protocol(self) -> str:
        """The name of the mechanism."""
        if self.threshold is None:
            return "clear-uniform" if self.own else "clear-shaped"
        if self.own and self.own.uniform:
            return "flip-uniform"
        if self.most_set is None and self.bins == 1:
            return "single-bit"
        return "flip-blank" if self.own or self.by_mixes else "flip"


def read_part(value: object, place: str) -> Part:
    """A part; raises RefusedError for one that has no proof."""
    held = Fields(value, place, "bins most_set threshold own recipe layout repeats")
    layout = _layout(held.held["layout"], held.at("layout"))
    recipe = _recipe(held.held["recipe"], held.at("recipe"))
    own = None if held.held["own"] is None else _own(held.held["own"], held.at("own"))
    most_set: int | None = None
    if held.held["most_set"] is None:
        bins = held.whole("bins", 1, MOST_BITS, "bins-out-of-range")
    else:
        bins = held.whole("bins", 2, MOST_BINS, "bins-out-of-range")
        most_set = held.whole("most_set", 1, min(MOST_SET, bins), "most-set-out-of-range")
    threshold = None if held.held["threshold"] is None else _threshold(held)
    repeats = held.whole("repeats", 1, MOST_REPEATS, "repeats-out-of-range")
    part = Part(bins, most_set, threshold, own, recipe, layout, repeats)
    named = bins + _pads(part)
    if layout.bins != named:
        raise refused("layout-bins", place, f"a layout of {named} bins", layout.bins)
    if own is not None and part.by_mixes:
        raise refused("two-covers", place, "fakes of devices or of hops", "both")
    if repeats > 1 and (threshold is None or own is not None or part.by_mixes):
        raise refused("repeats-unfit", place, "flips alone that are sent several times", repeats)
    if threshold is None:
        _check_clear(part, place)
    else:
        _check_flips(part, place, threshold)
    return part


def _layout(value: object, place: str) -> Layout:
    held = Fields(value, place, "form bins cap")
    form = held.chosen("form", "bits|index|positions", "unknown-form")
    bins = held.whole("bins", 1, MOST_BINS, "layout-bins")
    if held.held["cap"] is None:
        if form == "positions":
            raise refused("cap-missing", place, "a cap, as positions have one", None)
        return Layout(form, bins, None)
    cap = whole(held.held["cap"], held.at("cap"))
    if form == "index":
        raise refused("cap-with-index", place, "no cap, as one bin is named", cap)
    most = min(bins, MOST_CAP) if form == "positions" else bins
    if cap < 1:
        raise refused("cap-below-one", place, "a cap of at least 1", cap)
    if cap > most:
        raise refused("cap-too-large", place, f"a cap of at most {most}", cap)
    return Layout(form, bins, cap)


def _recipe(value: object, place: str) -> Recipe:
    kinds = {"none": "", "shaped": " ratio shift", "blanks": " count threshold"}
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in kinds:
        raise refused("unknown-recipe", place, f"one of {', '.join(kinds)}", kind)
    held = Fields(value, place, "type" + kinds[kind])
    if kind == "none":
        return Recipe(kind)
    if kind == "shaped":
        ratio = held.whole("ratio", 1, SCALE - 1, "ratio-out-of-range")
        return Recipe(kind, ratio, held.whole("shift", 1, 100_000, "shift-out-of-range"))
    count = held.whole("count", 1, 10_000_000_000, "blanks-out-of-range")
    return Recipe(kind, count, _threshold(held))


def _own(value: object, place: str) -> Own:
    held = Fields(value, place, "record whole coin")
    uniform = held.chosen("record", "blank|uniform", "unknown-fake") == "uniform"
    many = held.whole("whole", 0, MOST_OWN, "own-fakes-out-of-range")
    coin = whole(held.held["coin"], held.at("coin"))
    if coin < 0:
        raise refused("coin-below-zero", held.at("coin"), "a coin of at least 0", coin)
    if coin >= SCALE:
        raise refused("coin-too-large", held.at("coin"), "a coin below 2^64", coin)
    if not many and not coin:
        raise refused("own-fakes-none", place, "a fake, or no fakes at all", "none of them")
    return Own(uniform, many, coin)


def _threshold(held: Fields) -> int:
    return held.whole("threshold", LEAST_FLIP, MOST_FLIP, "threshold-out-of-range")


def _pads(part: Part) -> int:
    """Bins of a set in clear that stand for members which it lacks."""
    most = part.most_set or 1
    return most if part.threshold is None and most > 1 else 0


def _check_clear(part: Part, place: str) -> None:
    if part.most_set is None or part.layout.form != "index":
        raise refused("clear-not-index", place, "bins in clear, as their numbers", part.layout.form)
    if part.most_set > 1 and part.own is None:
        raise refused(
            "set-uncovered", place, "uniform fakes of devices for a set", part.recipe.kind
        )
    if part.own is None and part.recipe.kind != "shaped":
        raise refused("clear-uncovered", place, "shaped fakes, or uniform ones of devices", "none")
    if part.own is not None and not part.own.uniform:
        raise refused("clear-uncovered", place, "uniform fakes among bins in clear", "blank ones")


def _check_flips(part: Part, place: str, threshold: int) -> None:
    layout, most = part.layout, part.most_set
    if threshold * 2 == SCALE:
        raise refused("threshold-half", place, "flips that leave something to count", "half")
    if layout.form == "index":
        raise refused("flips-as-index", place, "flipped bits, packed or as positions", layout.form)
    if layout.cap is not None and layout.cap < (most or part.bins):
        raise refused("cap-below-record", place, "a cap of no less than a record sets", layout.cap)
    flips = part.recipe.second if part.recipe.kind == "blanks" else threshold
    if part.recipe.kind == "shaped" or flips != threshold:
        raise refused(
            "recipe-unfit", place, "blanks of hops, flipped as records are", part.recipe.kind
        )
    if part.own and part.own.uniform and most != 1:
        raise refused("uniform-fakes-unfit", place, "uniform fakes where one bin is set", most)
    if (part.own or part.by_mixes) and most is None and part.bins > 1:
        raise refused("free-bits-among-fakes", place, "free bits one by one", part.bins)


def _bytes(bits: int) -> int:
    return -(-bits // 8)
