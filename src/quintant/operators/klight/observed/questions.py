"""What a step may ask, and the answers it has so far.

Most questions are calls to peers. Some change a peer (`Join`, `Rejoin`, `Leave`, `Collect`,
`Regroup`) or create an object, and their answer decides what follows, too. Equal questions have one
answer; `look` tells apart those that are asked again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from quintant.core.object import Request
from quintant.operators.klight.api import PeerPod
from quintant.operators.klight.api.lightnetwork import LightNetwork
from quintant.operators.klight.observed.answers import Answer, Contents, PeerHealth
from quintant.operators.klight.observed.network import Observed, PeerView
from quintant.wire.peeradmin import StatusResponse

A = TypeVar("A")
PeerMethod = Literal["check", "inspect", "status", "blank", "contents", "newest"]
"""The methods of `Peers` that change nothing."""


@dataclass(frozen=True, slots=True)
class NetworkQuestion(Generic[A]):
    """Something to be asked, whose answer is an A."""


@dataclass(frozen=True, slots=True)
class PeerCall(NetworkQuestion[A]):
    """A call to a peer that changes nothing."""

    method: PeerMethod
    address: str
    within: float
    """The deadline, in seconds."""
    look: int = 0
    guard: PeerView | None = field(default=None, compare=False)
    """Asked only while this peer is the one it was; else the answer is None."""


def check(peer: PeerView, within: float) -> PeerCall[PeerHealth]:
    """Whether a peer serves."""
    return PeerCall("check", peer.address, within)


def guarded_check(peer: PeerView, within: float) -> PeerCall[PeerHealth | None]:
    """Whether a peer serves; None if it is not the one it was."""
    return PeerCall("check", peer.address, within, guard=peer)


def inspect(peer: PeerView, within: float) -> PeerCall[PeerHealth]:
    """Whether a peer serves, and is a lightpeer at all."""
    return PeerCall("inspect", peer.address, within)


def status(peer: PeerView, within: float) -> PeerCall[StatusResponse | None]:
    """How one of our own peers is; None for any other, and for silence."""
    return PeerCall("status", peer.address, within)


def blank(peer: PeerView, within: float) -> PeerCall[bool | None]:
    """Whether a peer of another make has no chain at all."""
    return PeerCall("blank", peer.address, within)


def contents(peer: PeerView, within: float, look: int) -> PeerCall[Contents]:
    """Everything that a peer has."""
    return PeerCall("contents", peer.address, within, look)


def newest(peer: PeerView, within: float) -> PeerCall[bytes]:
    """What was written last to a peer."""
    return PeerCall("newest", peer.address, within)


@dataclass(frozen=True, slots=True)
class Unchanged(NetworkQuestion[bool]):
    """Whether a peer is still the one it was, by the caches."""

    uid: str
    peer: PeerView = field(compare=False)


@dataclass(frozen=True, slots=True)
class PodsLook(NetworkQuestion[Mapping[Request, PeerPod]]):
    """The pods of these keys, as the caches have them, or the API server itself."""

    keys: tuple[Request, ...]
    live: bool


@dataclass(frozen=True, slots=True)
class NetworkLook(NetworkQuestion[Observed]):
    """The network, with what the API server itself knows of the pods of these keys."""

    keys: tuple[Request, ...]


@dataclass(frozen=True, slots=True)
class Join(NetworkQuestion[Answer | None]):
    """Have a peer join a contact's network; None if the contact is not the one it was."""

    address: str
    contact: str
    within: float
    joiner: PeerView = field(compare=False)
    guard: PeerView = field(compare=False)
    intent: bool = field(compare=False)
    """Whether it is written down before that it is being joined: a peer of another make could not
    tell after a crash."""


@dataclass(frozen=True, slots=True)
class Rejoin(NetworkQuestion[Answer]):
    """Have a member that is lost join a contact again."""

    address: str
    contact: str
    within: float


@dataclass(frozen=True, slots=True)
class Leave(NetworkQuestion[Answer]):
    """Have a peer leave its network."""

    address: str
    reason: str
    within: float


@dataclass(frozen=True, slots=True)
class Collect(NetworkQuestion[Answer]):
    """Have a contact keep what it lacks and members have."""

    contact: str
    members: tuple[str, ...]
    within: float


@dataclass(frozen=True, slots=True)
class Regroup(NetworkQuestion[Mapping[str, Answer]]):
    """Give peers of another make one list of members and one chain."""

    members: tuple[str, ...]
    port: int
    within: float


@dataclass(frozen=True, slots=True)
class Create(NetworkQuestion[LightNetwork | None]):
    """Create a network's LightNetwork; None if there is one by now."""

    key: Request
    wanted: LightNetwork = field(compare=False)


Questions = tuple[NetworkQuestion[Any], ...]
"""What is asked at once."""


class Answers:
    """What was answered so far; never changed, only extended."""

    def __init__(self, held: Mapping[NetworkQuestion[Any], Any] | None = None) -> None:
        self._held = dict(held or {})

    def __contains__(self, question: NetworkQuestion[Any]) -> bool:
        return question in self._held

    def __getitem__(self, question: NetworkQuestion[A]) -> A:
        """The answer to a question that was asked."""
        answer: A = self._held[question]
        return answer

    def get(self, question: NetworkQuestion[A]) -> A | None:
        """The answer to a question; None if it was not asked."""
        return self._held.get(question)

    def unanswered(self, questions: Iterable[NetworkQuestion[Any]]) -> Questions:
        """Those of the questions that were not asked yet."""
        return tuple(each for each in questions if each not in self._held)

    def extended(self, answers: Iterable[tuple[NetworkQuestion[Any], Any]]) -> Answers:
        """These answers, and more."""
        return Answers({**self._held, **dict(answers)})
