"""Whether a number is the one that is printed, to the last digit that is printed."""


def as_printed(value: float, printed: str) -> bool:
    """``value`` rounds to ``printed``, up to half a unit of its last digit."""
    mantissa, _, exponent = printed.partition("e")
    digits = len(mantissa.partition(".")[2])
    unit = 10.0 ** (int(exponent or 0) - digits)
    return abs(value - float(printed)) <= 0.5001 * unit
