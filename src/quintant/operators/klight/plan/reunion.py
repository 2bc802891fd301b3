"""How the parts of a network come together: one call after another, as a pure state machine.

    REJOIN    members of ours that are lost are sent to the largest part
    CHECK     which peers of another make serve
    COLLECT   a contact of ours writes what these alone have, then they are sent to it: GATHER
    REGROUP   without such a contact, they are given one list and one chain

`questions` says what is asked, and `after` takes the answers in. The oldest of the others comes
first, as in a network that was never torn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto

from quintant.operators.klight.observed.answers import Answer, JoinResult, join_result
from quintant.operators.klight.observed.network import Observed, PeerView
from quintant.operators.klight.observed.questions import (
    Answers,
    Collect,
    Questions,
    Regroup,
    Rejoin,
    check,
    status,
)
from quintant.operators.klight.options import Options
from quintant.operators.klight.plan.parts import strays
from quintant.operators.klight.plan.sweep import seen_members

STATUS_SECONDS = 2.0
CHECK_SECONDS = 2.0


class ReunionStage(Enum):
    """What is done next."""

    REJOIN = auto()
    CHECK = auto()
    COLLECT = auto()
    GATHER = auto()
    REGROUP = auto()
    END = auto()


@dataclass(frozen=True, slots=True)
class Reunion:
    """How far the parts of a network are brought together."""

    network: Observed
    contact: str
    """The newest member of the largest part; empty if no member is of ours."""
    queue: tuple[PeerView, ...]
    """Those who are sent to the contact, one after another."""
    others: tuple[PeerView, ...]
    """Peers of another make, oldest first; once they were checked, those who serve."""
    stage: ReunionStage = ReunionStage.REJOIN
    silent: int = 0
    """How many others did not answer."""
    replies: Mapping[str, Answer] = field(default_factory=dict)
    """What each peer answered, by uid."""


def begin(network: Observed, answers: Answers) -> Reunion:
    """The reunion of a network whose members were asked whom they see."""
    replies = [(peer, answers[status(peer, STATUS_SECONDS)]) for peer in network.stack]
    views = {peer.address: seen_members(reply) for peer, reply in replies if reply is not None}
    lost, base = strays(views)
    contact = next((peer.address for peer in network.stack if peer.address in base), "")
    peers = {peer.address: peer for peer in network.stack}
    others = tuple(peer for peer, reply in reversed(replies) if reply is None)
    return _settled(Reunion(network, contact, tuple(peers[address] for address in lost), others))


def questions(reunion: Reunion, options: Options) -> Questions:
    """What is asked next; empty once the reunion has ended."""
    members, within = tuple(peer.address for peer in reunion.others), options.join_timeout
    match reunion.stage:
        case ReunionStage.REJOIN | ReunionStage.GATHER:
            return (Rejoin(reunion.queue[0].address, reunion.contact, within),)
        case ReunionStage.CHECK:
            return tuple(check(peer, CHECK_SECONDS) for peer in reunion.others)
        case ReunionStage.COLLECT:
            return (Collect(reunion.contact, members, within),)
        case ReunionStage.REGROUP:
            return (Regroup(members, options.repair_port, within),)
    return ()


def after(reunion: Reunion, answers: Answers, options: Options) -> Reunion:
    """The reunion with the answers to its questions."""
    members, within = tuple(peer.address for peer in reunion.others), options.join_timeout
    match reunion.stage:
        case ReunionStage.REJOIN | ReunionStage.GATHER:
            peer, rest = reunion.queue[0], reunion.queue[1:]
            answer = answers[Rejoin(peer.address, reunion.contact, within)]
            replies = {**reunion.replies, peer.uid: answer}
            return _settled(replace(reunion, queue=rest, replies=replies))
        case ReunionStage.CHECK:
            return _checked(reunion, answers)
        case ReunionStage.COLLECT:
            return _collected(reunion, answers[Collect(reunion.contact, members, within)])
    regrouped = answers[Regroup(members, options.repair_port, within)]
    replies = {peer.uid: regrouped[peer.address] for peer in reunion.others}
    return replace(reunion, replies={**reunion.replies, **replies}, stage=ReunionStage.END)


def _settled(reunion: Reunion) -> Reunion:
    """The reunion at its next stage if there is no peer left to be sent to the contact."""
    if reunion.queue:
        return reunion
    more = reunion.stage is ReunionStage.REJOIN and reunion.others
    return replace(reunion, stage=ReunionStage.CHECK if more else ReunionStage.END)


def _checked(reunion: Reunion, answers: Answers) -> Reunion:
    serving = tuple(peer for peer in reunion.others if answers[check(peer, CHECK_SECONDS)].serves)
    silent = len(reunion.others) - len(serving)
    reunion = replace(reunion, others=serving, silent=silent)
    if not serving or len(reunion.network.stack) < 2:
        return replace(reunion, stage=ReunionStage.END)
    return replace(reunion, stage=ReunionStage.COLLECT if reunion.contact else ReunionStage.REGROUP)


def _collected(reunion: Reunion, answer: Answer) -> Reunion:
    if join_result(answer) is JoinResult.JOINED:
        return replace(reunion, stage=ReunionStage.GATHER, queue=reunion.others)
    replies = {peer.uid: answer for peer in reunion.others}
    return replace(reunion, replies={**reunion.replies, **replies}, stage=ReunionStage.END)
