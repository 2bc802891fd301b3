"""Lightpeers in memory: a network of models that speaks `Peers` under virtual time.

Tests and simulations use it instead of gRPC. A model behaves as a peer is specified to: a join
makes the joiner take over the contact's members and contents and tells every member; a peer that
died is forgotten by the others after a second; one of another make lists whoever joins it twice
twice, and does not say who it sees. Every call is logged with its time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from quintant.core.clock import monotonic
from quintant.operators.klight.observed.answers import OK, Answer, Contents, PeerHealth
from quintant.operators.klight.plan.parts import lacking, union
from quintant.wire.peeradmin import LastOrder, Member, StatusResponse

EVICTION_SECONDS = 1.0
"""After so long the others have forgotten a dead peer."""


class Mood(Enum):
    """How whatever is at an address behaves."""

    SERVING = "serving"
    DEAD = "nobody listens"
    SILENT = "it takes connections and says nothing"
    FOREIGN = "it is no lightpeer, and says so to a check"
    IMPOSTOR = "its health is fine, and it is no lightpeer"
    STOPPED = "it answers that it does not serve"
    HANGING = "it serves, and a join never ends"


class ModelledCall(NamedTuple):
    """One call that reached the network."""

    at: float
    method: str
    address: str
    contact: str = ""


@dataclass(slots=True)
class Model:
    """One peer."""

    address: str
    own: bool = True
    """Whether it is one of ours, which tells whom it sees and leaves when told to."""
    mood: Mood = Mood.SERVING
    view: list[str] = field(default_factory=list)
    """Members, as this peer sees them; itself among them."""
    contents: list[str] = field(default_factory=list)
    lag: float = 0.0
    """How long it takes to answer anything; shorter than any deadline."""
    join_seconds: float = 0.0
    mute: bool = False
    """Whether the answer to a join gets lost, though it joins."""
    blank: bool = True
    """Whether it has no chain: it was never in a network, and nothing was written."""
    order: LastOrder | None = None
    """How its last write ended, if it is one of ours."""
    gives_up: bool = False
    """Whether it stops joining when nobody waits for it any more."""
    answer: Answer | None = None
    """What it answers to every join, instead of joining."""


class ModelledPeers:
    """A network of models, by address."""

    def __init__(self) -> None:
        self.models: dict[str, Model] = {}
        self.calls: list[ModelledCall] = []
        self.cut: set[tuple[str, str]] = set()
        """Pairs of joiner and contact between which no packet passes."""
        self.overlaps: int = 0
        """How often a join began while another one into the same members was going on."""
        self._joining: list[set[str]] = []

    def add(self, address: str, **traits: object) -> Model:
        """A fresh peer at an address, alone."""
        model = self.models[address] = Model(address, view=[address], **traits)  # type: ignore[arg-type]
        model.blank = not model.contents
        return model

    def kill(self, address: str) -> None:
        """End a peer's process; the others forget it soon."""
        model = self.models[address]
        model.mood = Mood.DEAD
        asyncio.get_running_loop().call_later(EVICTION_SECONDS, self._bury, model)

    def persist(self, address: str, word: str) -> bool:
        """Have a peer keep something; acknowledged if somebody else keeps it, too.

        A peer of another make tells its members one after another, until one refuses.
        """
        model = self.models[address]
        if not model.own:
            return self._announce(model, word)
        seen = [self.models[each] for each in model.view if each in self.models]
        keepers = [each for each in seen if each.mood is not Mood.DEAD]
        for each in keepers:
            each.contents.append(word)
            each.blank = False
        return sum(each.mood is Mood.SERVING for each in keepers) > 1

    def _announce(self, model: Model, word: str) -> bool:
        before = list(model.contents)
        for each in (self.models[name] for name in model.view if name != model.address):
            if each.mood is not Mood.SERVING:
                continue
            if each.contents != before:
                return each.own and each.contents[-1:] == [word]
            each.contents.append(word)
        model.contents.append(word)
        model.blank = False
        return True

    def joins(self, address: str = "") -> list[tuple[str, str]]:
        """The joins so far: joiner and contact."""
        calls = [call for call in self.calls if call.method == "join"]
        return [(each.address, each.contact) for each in calls if address in ("", each.address)]

    async def check(self, address: str, within: float) -> PeerHealth:
        """Whether the peer at an address serves."""
        match await self._reach("check", address, within):
            case Mood.SERVING | Mood.IMPOSTOR | Mood.HANGING:
                model = self.models[address]
                failing = model.own and model.order is not None and model.order.failure
                return PeerHealth.FAILING if failing else PeerHealth.SERVING
            case Mood.SILENT:
                return PeerHealth.SILENT
            case Mood.STOPPED:
                return PeerHealth.NOT_SERVING
            case Mood.FOREIGN:
                return PeerHealth.FOREIGN
        return PeerHealth.REFUSED

    async def inspect(self, address: str, within: float) -> PeerHealth:
        """A check that also tells whether what serves is a lightpeer at all."""
        health = await self.check(address, within)
        impostor = self._mood(address) is Mood.IMPOSTOR
        return PeerHealth.FOREIGN if impostor else health

    async def status(self, address: str, within: float) -> StatusResponse | None:
        """How one of our own peers is; None for any other, and for silence."""
        mood = await self._reach("status", address, within)
        model = self.models.get(address)
        if model is None or not model.own or mood not in (Mood.SERVING, Mood.HANGING):
            return None
        members = tuple(Member(each) for each in model.view)
        clients = len(model.contents)
        return StatusResponse(address, members=members, clients=clients, order=model.order)

    async def leave(self, address: str, reason: str, within: float) -> Answer:
        """Have one of our own peers leave its network; any other answers UNIMPLEMENTED."""
        mood = await self._reach("leave", address, within)
        if mood is not Mood.SERVING:
            return Answer("UNAVAILABLE", mood.value)
        model = self.models[address]
        if not model.own:
            return Answer("UNIMPLEMENTED")
        self._evict(address)
        model.view, model.contents = [address], []
        return Answer(OK)

    async def contents(self, address: str, within: float) -> Contents:
        """Everything a peer has; empty if it has nothing, or does not say."""
        mood = await self._reach("contents", address, within)
        written = self.models[address].contents if mood is Mood.SERVING else []
        return tuple(each.encode() for each in reversed(written))

    async def newest(self, address: str, within: float) -> bytes:
        """What was written last; empty if nothing was, or the peer does not say."""
        return next(iter(await self.contents(address, within)), b"")

    async def regroup(self, members: Sequence[str], port: int, within: float) -> dict[str, Answer]:
        """Give peers of another make one list of members, and everything that any of them has."""
        words = union([await self.contents(each, within) for each in members])
        for each in members:
            await self._reach("regroup", each, within)
            model = self.models[each]
            model.view, model.blank = list(members), False
            model.contents = [word.decode() for word in words]
        return dict.fromkeys(members, Answer(OK))

    async def collect(self, contact: str, members: Sequence[str], within: float) -> Answer:
        """Have a peer keep what it lacks and others have; how that ended."""
        mine = await self.contents(contact, within)
        for word in lacking(mine, [await self.contents(each, within) for each in members]):
            self.persist(contact, word.decode())
        return Answer(OK)

    async def blank(self, address: str, within: float) -> bool | None:
        """Whether a peer of another make has no chain at all; None if it does not say."""
        mood = await self._reach("blank", address, within)
        model = self.models.get(address)
        if model is None or model.own or mood not in (Mood.SERVING, Mood.HANGING):
            return None
        return model.blank

    async def join(self, address: str, contact: str, within: float) -> Answer:
        """Have the peer at an address join the network of the contact."""
        mood = await self._reach("join", address, within, contact)
        model = self.models.get(address)
        if model is None or mood in (Mood.DEAD, Mood.FOREIGN):
            return Answer("UNAVAILABLE", "failed to connect to all addresses")
        if mood is Mood.IMPOSTOR:
            return Answer("UNIMPLEMENTED", "Method not found!")
        if mood is Mood.SILENT:
            return Answer("DEADLINE_EXCEEDED", "Deadline Exceeded")
        if mood is Mood.STOPPED:
            return Answer("UNKNOWN", "cannot write to the disk: No space left on device")
        if mood is Mood.HANGING:
            await asyncio.sleep(within)
            return Answer("DEADLINE_EXCEEDED", "Deadline Exceeded")
        return model.answer or await self._join(model, contact, within)

    def finish_join(self, address: str, contact: str, seconds: float) -> None:
        """Have a join end later that a peer is at, though whoever asked for it is gone."""
        model = self.models[address]
        asyncio.get_running_loop().call_later(seconds, self._merge, model, contact)

    async def _join(self, model: Model, contact: str, within: float) -> Answer:
        members = set(self.models[contact].view) if contact in self.models else {contact}
        self.overlaps += any(members & others for others in self._joining)
        self._joining.append(members)
        try:
            await asyncio.sleep(min(model.join_seconds, within))
        finally:
            self._joining.remove(members)
        late = model.join_seconds - within
        if late > 0:
            if not model.gives_up:
                asyncio.get_running_loop().call_later(late, self._merge, model, contact)
            return Answer("DEADLINE_EXCEEDED", "Deadline Exceeded")
        if model.mood is not Mood.SERVING:
            return Answer("UNAVAILABLE", "Socket closed")
        answer = self._merge(model, contact)
        if model.mute:
            await asyncio.sleep(within)
            return Answer("DEADLINE_EXCEEDED", "Deadline Exceeded")
        return answer

    def _merge(self, model: Model, contact: str) -> Answer:
        mood = self._mood(contact)
        if mood is Mood.IMPOSTOR:
            text = "could not process block stream: rpc error: code = Unimplemented desc = unknown"
            return Answer("UNKNOWN", text)
        if mood is not Mood.SERVING or (model.address, contact) in self.cut:
            text = "connect new peer request failed: rpc error: code = Unavailable desc = refused"
            return Answer("UNKNOWN", text)
        host = self.models[contact]
        if not host.own and model.address in host.view and model.contents != host.contents:
            text = "could not send new block notifications: new block links to invalid parent"
            return Answer("UNKNOWN", f"could not process block stream: {text}")
        if model.address not in host.view or not host.own:
            host.view.append(model.address)
        host.contents += [each for each in model.contents if each not in host.contents]
        for address in host.view:
            member = self.models.get(address)
            # One that pauses gets everything when it goes on.
            if member is not None and member.mood is not Mood.DEAD:
                member.view, member.contents = list(host.view), list(host.contents)
                member.blank = False
        return Answer(OK)

    async def _reach(self, method: str, address: str, within: float, contact: str = "") -> Mood:
        self.calls.append(ModelledCall(monotonic(), method, address, contact))
        # Even the quickest answer lets others have their turn first.
        await asyncio.sleep(self.models[address].lag if address in self.models else 0)
        mood = self._mood(address)
        if mood is Mood.SILENT:
            await asyncio.sleep(within)
        return mood

    def _mood(self, address: str) -> Mood:
        return self.models[address].mood if address in self.models else Mood.DEAD

    def _bury(self, model: Model) -> None:
        """Let the others forget a peer, unless another one is at its address by now."""
        if self.models[model.address] is model and model.mood is Mood.DEAD:
            self._evict(model.address)

    def _evict(self, address: str) -> None:
        for model in self.models.values():
            if model.address != address and address in model.view:
                model.view = [each for each in model.view if each != address]
