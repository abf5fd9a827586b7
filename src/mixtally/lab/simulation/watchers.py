"""Detection of lost messages by devices that watch.

A *watcher* is a device that checks after a round whether one of its messages was lost
(``device.client.net.watch``). A mix after the first one cannot tell whose messages it drops, so the
messages of watchers are lost as often as those of others. If a share s of all messages is dropped
at random, w watchers with m messages each detect the loss with probability

    1 - (1 - s)^(w m)

Honest roles are never accused, so the false-alarm probability is 0.
"""

import math

from mixtally.errors import ParameterError


def detection_probability(share: float, watchers: int, messages: int = 1) -> float:
    """Compute the probability that at least one watcher detects that a mix drops messages.

    Parameters
    ----------
    share : float
        The share of all messages that the mix drops, in [0, 1].
    watchers : int
        The number of devices that watch.
    messages : int
        The number of messages of each device.
    """
    if not 0 <= share <= 1:
        raise ParameterError(
            "share", expected="a number in [0, 1]", got=share, do="give a share of the messages"
        )
    if share == 1:
        return float(watchers * messages > 0)
    return -math.expm1(watchers * messages * math.log1p(-share))


def needed_watchers(share: float, probability: float, messages: int = 1) -> int:
    """Compute the least number of watchers that detect a loss with a required probability.

    Parameters
    ----------
    share : float
        The share of all messages that the mix drops, in (0, 1).
    probability : float
        The least probability, in (0, 1).
    messages : int
        The number of messages of each device.
    """
    for name, value in (("share", share), ("probability", probability)):
        if not 0 < value < 1:
            raise ParameterError(
                name, expected="a number in (0, 1)", got=value, do="give a smaller or larger one"
            )
    found = math.ceil(math.log1p(-probability) / math.log1p(-share) / messages)
    # Rounding may have moved the quotient across an integer.
    while detection_probability(share, found, messages) < probability:
        found += 1
    return found
