"""The attacks ``tell-apart``, ``n-1`` and ``collusion`` on the messages of a round.

Each attacker sees all messages of a round, and decides which of two records one person sent. The
attackers differ in what else they know.

*tell-apart* knows only the record of all other people. They hold the same third record, which is
the worst crowd known to this package. All expected messages arrive.

*n-1* cooperates with everyone except the hop, the people and the fakes that the guarantee relies
on. One hop is honest. The hops before it remove the messages of others. The hops after it, the
collector and the other people reveal the messages that they sent, and the attacker subtracts these.
There are three cases:

- If every mix draws fakes, the fakes of the honest hop hide the person wherever this hop is. So the
  guarantee applies.
- If people draw the fakes and the honest hop is the first, the fakes of the honest people hide the
  person. So the guarantee applies. If the honest hop comes after a dishonest one, only the person's
  own fakes remain, and the assumption of the certificate is broken.
- If the guarantee relies on flips of others, these are revealed, and only the fakes hide the
  person.

*collusion* assumes that every second honest person reveals their messages, or that every mix
reveals which messages are the person's. In the second case only the randomization of each report is
left.
"""

from dataclasses import replace

from mixtally.lab.attacks.game import Game, draw_pilot, play
from mixtally.lab.attacks.game_outcomes import attack_outcomes
from mixtally.lab.attacks.games import game_among
from mixtally.lab.attacks.outcome import AttackLab, Hypothesis, Outcome, conclude_game
from mixtally.lab.attacks.remaining_epsilon import none_if_infinite, remaining_epsilon
from mixtally.lab.attacks.target import NOBODY, HidingPeople, Target

TELL_APART, N_MINUS_1, COLLUSION = "tell-apart", "n-1", "collusion"
TEST = (
    "likelihood ratio of the whole multiset of messages; optimal except for several bits among "
    "both a crowd and fakes, which the statistic treats as one mean distribution"
)


def tell_apart(target: Target, lab: AttackLab) -> list[Outcome]:
    """Play one game in which the attacker knows only the messages and the crowd's record."""
    game = game_among(target.senders_among(target.expected, target.hops), target.epsilon)
    return attack_outcomes(_build_hypothesis(target, TELL_APART, "sees every message"), game, lab)


def n_minus_1(target: Target, lab: AttackLab) -> list[Outcome]:
    """Play a game for each case of the attack ``n-1`` that applies to the target."""
    case, hops = "knows all other reports", target.hops
    if hops > 1:
        case = f"only {'one' if target.by_mixes else 'hop 1'} of {hops} hops is honest"
    games: list[tuple[Hypothesis, Game]] = [
        (
            _build_hypothesis(target, N_MINUS_1, case),
            game_among(target.senders_among(target.certain), target.epsilon),
        )
    ]
    if target.certain.flips:
        senders = target.senders_among(HidingPeople(target.certain.fakes, 0))
        epsilon = none_if_infinite(remaining_epsilon(senders, target.delta, lab.accountant))
        promise = _build_hypothesis(target, N_MINUS_1, "knows others' reports and flips")
        games.append((replace(promise, promised=epsilon), game_among(senders, target.epsilon)))
    if hops > 1 and not target.by_mixes:
        case = "only a later hop is honest, others' messages were left out before it"
        own = target.senders_among(HidingPeople(1, 0))
        games.append((_build_hypothesis(target, N_MINUS_1, case), game_among(own, target.epsilon)))
    lab = replace(lab, error=lab.error / len(games))
    return [one for promise, game in games for one in attack_outcomes(promise, game, lab)]


def collusion(target: Target, lab: AttackLab) -> list[Outcome]:
    """Play a game in which half of the people collude, and one in which all mixes collude.

    The first game is left out if the guarantee relies on no other people.
    """
    if target.certain == NOBODY:
        return [all_mixes_collude(target, lab)]
    lab = replace(lab, error=lab.error / 2.0)
    behind = target.senders_among(target.certain.halve())
    epsilon = none_if_infinite(remaining_epsilon(behind, target.delta, lab.accountant))
    promise = replace(
        _build_hypothesis(target, COLLUSION, "half of the people tell"), promised=epsilon
    )
    played = attack_outcomes(promise, game_among(behind, target.epsilon), lab)
    return [*played, all_mixes_collude(target, lab)]


def all_mixes_collude(target: Target, lab: AttackLab) -> Outcome:
    """Return the outcome if every mix reveals which messages are the person's."""
    game = game_among(target.senders_among(NOBODY, mixes=0, collections=1))
    worlds = play(game, lab, COLLUSION)
    return conclude_game(
        Hypothesis(COLLUSION, "every mix tells", none_if_infinite(target.local_epsilon), 0.0, TEST),
        worlds,
        lab,
        played="the person's messages alone",
        pilot=draw_pilot(game, len(worlds.u), lab),
    )


def _build_hypothesis(target: Target, attack: str, case: str) -> Hypothesis:
    return Hypothesis(attack, case, target.epsilon, target.delta, TEST)
