"""A shop whose baskets are known, and what must be found in them."""

from mixtally.lab.simulation.baskets import build_baskets, count_holders


def shop():
    """Thirty thousand baskets of up to three of eight goods; bread, milk and jam go together."""
    kinds = [("bread", "milk", "jam")] * 6 + [("bread", "milk")] * 6 + [("tea",)] * 9
    kinds += [("oil", "rice")] * 3 + [("salt",), ("soap",), ("bread",), ()]
    return build_baskets("goods", kinds * 1072)


def few():
    """A small crowd of three goods."""
    kinds = [("a", "b")] * 330 + [("a",)] * 300 + [("b",)] * 300 + [("c",)] * 300
    return build_baskets("goods", [*kinds, *[("a", "c")] * 100])


def check_found(found, crowd):
    """The sets of the shop and no others, each near what is true and within its interval."""
    label = crowd.question.label
    pairs = {tuple(map(label, one.items)) for one in found.sets[2]}
    assert pairs == {("bread", "milk"), ("bread", "jam"), ("jam", "milk"), ("oil", "rice")}
    (triple,) = found.sets[3]
    assert [label(i) for i in triple.items] == ["bread", "jam", "milk"]
    check_intervals(found, crowd)
    assert len(found.rules) == 2 * len(pairs) + 3


def check_intervals(found, crowd):
    """Every set found is near what is true, and within its interval."""
    for one in found.all_sets:
        (true,) = count_holders(crowd, [one.items]).tolist()
        assert abs(one.count - true) < 5 * one.standard_error
        assert one.lower <= true <= one.upper
