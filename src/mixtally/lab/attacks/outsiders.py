"""tell-apart, n-1 and collusion: which of two records did one person send, seen from all messages,
by whoever knows nothing else, or is told what others hold, what they drew, or what mixes did.

*tell-apart* sees what is sent if everything comes as expected. All others hold the same third
record, which is the background the seeds and this package know as worst; the attacker knows that.

*n-1* works together with everybody but those whom the promise counts on. One hop is honest: hops
before it leave out what others sent, those behind it, the collector and the other people tell what
they sent, which is subtracted. What is left is the person's messages among what the honest hop
draws or, where people bring the cover, among what reaches it: where it is the first, the messages
of as many honest people as are counted on; behind a dishonest hop, nothing but the person's own
fakes. So a plan whose cover every mix draws keeps its promise wherever the honest hop stands. One
whose cover people bring keeps it behind an honest first hop, and is seen to break it behind
another: its assumption says so. What is told of flips that a promise counts on leaves what fakes
alone are worth.

*collusion*: every second person who is counted on tells; or every mix does, which leaves what each
report keeps by itself.
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
    "likelihood ratio of the whole multiset of messages; optimal but for more than one bit of a "
    "crowd beside fakes, where their mean distribution stands for both"
)


def tell_apart(target: Target, lab: AttackLab) -> list[Outcome]:
    """One game against the promise itself."""
    game = game_among(target.senders_among(target.expected, target.hops), target.epsilon)
    return attack_outcomes(_build_hypothesis(target, TELL_APART, "sees every message"), game, lab)


def n_minus_1(target: Target, lab: AttackLab) -> list[Outcome]:
    """A game for every place of the honest hop, and one in which counted flips are told."""
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
        told = target.senders_among(HidingPeople(target.certain.fakes, 0))
        epsilon = none_if_infinite(remaining_epsilon(told, target.delta, lab.accountant))
        promise = _build_hypothesis(target, N_MINUS_1, "knows others' reports and flips")
        games.append((replace(promise, promised=epsilon), game_among(told, target.epsilon)))
    if hops > 1 and not target.by_mixes:
        case = "only a later hop is honest, others' messages were left out before it"
        own = target.senders_among(HidingPeople(1, 0))
        games.append((_build_hypothesis(target, N_MINUS_1, case), game_among(own, target.epsilon)))
    lab = replace(lab, error=lab.error / len(games))
    return [one for promise, game in games for one in attack_outcomes(promise, game, lab)]


def collusion(target: Target, lab: AttackLab) -> list[Outcome]:
    """Some people conspire, where any are counted on; then every mix does."""
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
    """Every mix reveals which messages are the person's."""
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
