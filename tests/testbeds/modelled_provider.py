"""An Infrastructure Manager in memory, under virtual time, with the faults of the real one.

What IM 2.0.0 was seen to do is done here: a creation prepares for a while and lists no machine; a
deletion at that time is accepted, and its machines are launched all the same; while machines are
launched it refuses to delete; an update is answered when it is done, and one that overlaps another
launches machines twice; templates are merged; a deletion that fails says so only to who waits; the
same wrong password is 401 here and 400 there; `configured` is shown before `unconfigured`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any

from quintant.core.clock import monotonic
from quintant.keys.sensitive import Sensitive
from quintant.operators.infra.observed.answers import (
    ErrorClass,
    Estimate,
    Failure,
    InfrastructureState,
    InfrastructureWord,
    MachineDetails,
    ProviderError,
)
from quintant.operators.infra.observed.marks import InfrastructureMarks, marks_in_name, marks_of
from quintant.operators.infra.observed.session import ProviderSession
from quintant.operators.infra.plan.diff import machine_counts
from quintant.operators.infra.remote.errors import answer_failure
from quintant.testing import FaultMode, RemoteModel, effect

_ORDER = ("failed", "unknown", "pending", "running", "stopped", "off", "unconfigured", "configured")


@dataclass
class Faults:
    """What goes wrong, and how long things take; tests set it at any time. Times are seconds."""

    prepare: float = 1.0
    """Until a creation lists its first machine."""
    launch: float = 1.0
    """Until a machine is launched; each after the other."""
    configure: float = 2.0
    finalize: float = 1.0
    launch_fail: str = ""
    no_address: bool = False
    """Machines get no address: `configured` for a moment, then `unconfigured`."""
    machine_state: str = ""
    """What every machine is said to be."""
    finalize_fail: str = ""
    down: bool = False
    page: tuple[int, bytes] | None = None
    """What a proxy answers to everything."""
    password: str = ""
    """The only password that the provider takes; empty takes any."""
    cloud_password: str = ""
    cloud_unreached: str = ""
    """What the provider says of a cloud that it does not reach."""
    disabled: bool = False
    plan_fail: tuple[int, str] | None = None
    outputs_missing: bool = False
    ghosts: int = 0
    """Deletions after which it is there again, without machines: its state was read as it went."""
    wrong_id: str = ""
    """What the next creation is answered with, whatever was made."""
    lost_answers: int = 0
    """Creations that are carried out, and whose answers are lost."""


@dataclass
class ModelledMachine:
    """A machine in the cloud; it may be there though nobody lists it."""

    id: str
    node: str
    state: str = "pending"
    infrastructure: str = ""
    listed: bool = True


@dataclass
class ModelledInfrastructure:
    """What the provider keeps of a request to create."""

    id: str
    owner: str
    template: dict[str, Any]
    name: str
    machines: dict[str, ModelledMachine] = field(default_factory=dict)
    launching: int = 0
    configured: bool | None = None
    deleting: bool = False
    template_lost: bool = False
    log: str = ""
    next_machine: int = 0
    dead: bool = False
    """Whether the provider's own thread for it is no more."""


class ModelledProvider(RemoteModel):
    """One provider and the cloud behind it; `at(session)` is how it is reached."""

    def __init__(self) -> None:
        self.faults = Faults()
        self.infrastructures: dict[str, ModelledInfrastructure] = {}
        self.cloud: dict[str, ModelledMachine] = {}
        """Every machine that runs and costs money, listed or not."""
        self.calls: list[str] = []
        self.sent: list[tuple[str, Mapping[str, str]]] = []
        """Credentials that arrived, revealed: what a test compares."""
        self.urls: set[str] = set()
        """Addresses at which it was asked."""
        self._ids, self._order = count(1), count()
        self._timeline: list[tuple[float, int, Callable[[], None]]] = []

    refusals = (FaultMode.UNAVAILABLE, FaultMode.TIMEOUT)

    def failure(self, mode: FaultMode) -> Exception:
        unsure = mode is not FaultMode.UNAVAILABLE
        return ProviderError(
            Failure(
                ErrorClass.TRANSIENT,
                "ProviderUnreachable",
                "no answer (injected)",
                applied=None if unsure else False,
            )
        )

    def state(self) -> Any:
        """What there is, whatever its id."""
        self.settle()
        return {
            "infrastructures": sorted(each.name for each in self.infrastructures.values()),
            "machines": sorted(each.node for each in self.cloud.values()),
        }

    # What time brings.

    def settle(self) -> None:
        """Do everything that is due."""
        now = monotonic()
        while self._timeline:
            first = min(self._timeline, key=lambda each: each[:2])
            if first[0] > now:
                return
            self._timeline.remove(first)
            first[2]()

    def _later(self, seconds: float, what: Callable[[], None]) -> None:
        self._timeline.append((monotonic() + seconds, next(self._order), what))

    def crash(self) -> None:
        """Kill the provider and start it again: its threads are gone, its data are not."""
        self.settle()
        self._timeline.clear()
        for each in self.infrastructures.values():
            each.template_lost, each.dead, each.launching = True, True, 0
            each.deleting = False

    def wipe(self) -> None:
        """Lose its data: machines run on, and nobody knows of them."""
        self.settle()
        self._timeline.clear()
        self.infrastructures.clear()

    def creations(self) -> int:
        """How often an infrastructure was asked for and made."""
        return sum(call == "create" for call in self.calls)

    def count(self, *names: str) -> int:
        """How many calls of these names there were."""
        return sum(call in names for call in self.calls)

    @property
    def running(self) -> list[str]:
        """The machines in the cloud, by node."""
        self.settle()
        return sorted(each.node for each in self.cloud.values())

    def only(self) -> ModelledInfrastructure:
        """The one infrastructure there is."""
        self.settle()
        (found,) = self.infrastructures.values()
        return found

    # What is asked.

    def at(self, session: ProviderSession) -> ModelledAccess:
        """The provider as one session reaches it."""
        return ModelledAccess(self, session)

    def check_in(self, name: str, session: ProviderSession, *, listing: bool) -> str:
        """Take a call: who asks; ProviderError if it is not served."""
        self.settle()
        faults = self.faults
        if faults.down:
            raise ProviderError(self.failure_of("the connection was refused"))
        if faults.page is not None:
            self.calls.append(name)
            raise self._refusal(*faults.page, changes=name in _CHANGING)
        self.calls.append(name)
        user = {key: value.reveal() for key, value in session.user.items()}
        cloud = {
            key: value.reveal() if isinstance(value, Sensitive) else value
            for key, value in (session.cloud or {}).items()
        }
        self.urls.add(session.url)
        self.sent.append((name, {**cloud, **{f"im.{key}": each for key, each in user.items()}}))
        if faults.password and user.get("password") != faults.password:
            status = 401 if listing else 400
            raise self._refused(status, "Invalid InfrastructureManager credentials", name)
        if faults.disabled and name in _CHANGING:
            raise self._refused(403, "Function currently disabled.", name)
        return f"{user.get('username')}:{user.get('password')}"

    def failure_of(self, said: str) -> Failure:
        return Failure(ErrorClass.TRANSIENT, "ProviderUnreachable", said, applied=False)

    def _refused(self, status: int, said: str, name: str = "") -> ProviderError:
        body = f'{{"message": "{said}", "code": {status}}}'.encode()
        return self._refusal(status, body, changes=name in _CHANGING)

    def _refusal(self, status: int, body: bytes, *, changes: bool) -> ProviderError:
        return ProviderError(answer_failure(status, body, changes=changes))

    def held(self, id: str, owner: str, name: str) -> ModelledInfrastructure:
        """The infrastructure of an id, if it is there and its owner asks."""
        found = self.infrastructures.get(id)
        if found is None:
            raise self._refused(404, "Invalid infrastructure ID or access not granted.", name)
        if found.owner != owner:
            raise self._refused(403, "Access to this infrastructure not granted.", name)
        return found

    def check_cloud(self, session: ProviderSession) -> None:
        """Refuse a wrong password of the cloud, as a call that logs in does."""
        if self.faults.cloud_unreached:
            raise self._refused(400, self.faults.cloud_unreached)
        wanted = self.faults.cloud_password
        given = (session.cloud or {}).get("password")
        if wanted and (not isinstance(given, Sensitive) or given.reveal() != wanted):
            raise self._refused(400, "Invalid credentials with the provider")

    @effect
    async def create(self, session: ProviderSession, owner: str, template: dict[str, Any]) -> str:
        """Begin to make an infrastructure."""
        self.settle()
        name = str(template["metadata"]["infra_name"]).partition("--")[0]
        id = f"inf-{next(self._ids)}"
        found = ModelledInfrastructure(id, owner, dict(template), name)
        self.infrastructures[id] = found
        self.ledger.add("infrastructure", name)
        wanted = self.faults.cloud_password
        given = (session.cloud or {}).get("password")
        if wanted and (not isinstance(given, Sensitive) or given.reveal() != wanted):
            found.dead = True  # its thread dies without a word
        else:
            self._later(self.faults.prepare, lambda: self._launch(found))
        return id

    def _launch(self, found: ModelledInfrastructure) -> None:
        """Launch what the template asks for and is not there; whoever deleted it meanwhile."""
        if self.faults.launch_fail:
            found.configured, found.log = False, self.faults.launch_fail
            return
        for node, wanted in (machine_counts(found.template) or {}).items():
            have = [each for each in found.machines.values() if each.node == node]
            for _ in range((wanted or 0) - len(have)):
                self._add(found, node)
            for extra in have[: max(len(have) - (wanted or 0), 0)]:
                self._remove(found, extra)

    def _add(self, found: ModelledInfrastructure, node: str) -> None:
        number, found.next_machine = found.next_machine, found.next_machine + 1
        gone = self.infrastructures.get(found.id) is not found
        machine = ModelledMachine(str(number), node, "pending", found.id, listed=not gone)
        key = f"{found.id}/{number}"
        self.cloud[key] = machine
        self.ledger.add("machine", key)
        if gone:
            return
        found.machines[machine.id] = machine
        found.launching += 1
        self._later(self.faults.launch * found.launching, lambda: self._launched(found, machine))

    def _launched(self, found: ModelledInfrastructure, machine: ModelledMachine) -> None:
        found.launching = max(found.launching - 1, 0)
        machine.state = "running"
        self._later(self.faults.configure, lambda: self._configured(found, machine))

    def _configured(self, found: ModelledInfrastructure, machine: ModelledMachine) -> None:
        if machine.state not in ("running", "unconfigured"):
            return
        machine.state, found.configured = "configured", True
        if self.faults.no_address:
            self._later(2.0, lambda: self._without_address(found, machine))

    def _without_address(self, found: ModelledInfrastructure, machine: ModelledMachine) -> None:
        if self.faults.no_address:
            machine.state, found.log = "unconfigured", "No correct Master VM found"

    def _remove(self, found: ModelledInfrastructure, machine: ModelledMachine) -> None:
        found.machines.pop(machine.id, None)
        self.cloud.pop(f"{found.id}/{machine.id}", None)
        self.ledger.remove("machine", f"{found.id}/{machine.id}")

    @effect
    async def update(self, id: str, owner: str, template: dict[str, Any]) -> None:
        """Merge a template, and make what is missing; answered when that is launched."""
        found = self.held(id, owner, "update")
        found.template = _merged(found.template, template)
        found.template_lost = found.dead = False
        if self.faults.launch_fail:
            raise self._refused(400, f"Error adding VMs: {self.faults.launch_fail}", "update")
        before = len(found.machines)
        self._launch(found)
        if len(found.machines) > before:
            await asyncio.sleep(self.faults.launch * (len(found.machines) - before))
        self.settle()
        for machine in found.machines.values():
            if machine.state == "unconfigured":
                self._later(self.faults.configure, partial(self._configured, found, machine))

    @effect
    async def reconfigure(self, id: str, owner: str) -> None:
        found = self.held(id, owner, "reconfigure")
        for machine in found.machines.values():
            machine.state = "running"
            self._later(self.faults.configure, partial(self._configured, found, machine))

    @effect
    async def replace(self, id: str, owner: str, machines: tuple[str, ...]) -> None:
        found = self.held(id, owner, "replace")
        for each in machines:
            if each in found.machines:
                self._remove(found, found.machines[each])

    @effect
    async def delete(self, id: str, owner: str, force: bool, wait: bool) -> None:
        found = self.held(id, owner, "delete")
        if found.launching:
            raise self._refused(409, "Invalid State: adding resources", "delete")
        if not found.machines and found.configured is None:
            # It is forgotten at once, and its thread launches all the same.
            self._forget(found)
            return
        if self.faults.finalize_fail and not force:
            if wait:
                raise self._refused(400, self.faults.finalize_fail, "delete")
            found.deleting = True
            self._later(self.faults.finalize, lambda: setattr(found, "deleting", False))
            return
        found.deleting = True
        if wait:
            await asyncio.sleep(self.faults.finalize)
            self._finalize(found)
        else:
            self._later(self.faults.finalize, lambda: self._finalize(found))

    def _finalize(self, found: ModelledInfrastructure) -> None:
        for machine in list(found.machines.values()):
            self._remove(found, machine)
        if self.faults.ghosts:
            self.faults.ghosts -= 1
            found.deleting, found.configured = False, True
            return
        self._forget(found)

    def _forget(self, found: ModelledInfrastructure) -> None:
        if self.infrastructures.pop(found.id, None) is not None:
            self.ledger.remove("infrastructure", found.name)

    def word_of(self, found: ModelledInfrastructure) -> InfrastructureState:
        """How an infrastructure is said to be."""
        states = {
            each.id: self.faults.machine_state or each.state for each in found.machines.values()
        }
        if found.deleting:
            return InfrastructureState(InfrastructureWord.DELETING, states)
        if not states:
            words = {None: "pending", False: "failed", True: "unknown"}
            return InfrastructureState(InfrastructureWord(words[found.configured]), {})
        word = min(states.values(), key=_ORDER.index)
        return InfrastructureState(InfrastructureWord(word), states)


_CHANGING = frozenset({"create", "update", "reconfigure", "replace", "delete"})


@dataclass(frozen=True)
class ModelledAccess:
    """The Provider protocol, for one session."""

    model: ModelledProvider
    session: ProviderSession

    def _in(self, name: str, *, listing: bool = False) -> str:
        return self.model.check_in(name, self.session, listing=listing)

    async def version(self) -> str:
        if self.model.faults.down or self.model.faults.page is not None:
            self._in("version")
        return "2.0.0"

    async def check(self) -> None:
        self._in("list", listing=True)

    async def check_cloud(self) -> None:
        self._in("images", listing=True)
        self.model.check_cloud(self.session)

    async def plan(self, template: Mapping[str, Any]) -> Estimate:
        self._in("plan", listing=True)
        self.model.check_cloud(self.session)
        if self.model.faults.plan_fail is not None:
            status, said = self.model.faults.plan_fail
            body = f'{{"message": "{said}", "code": {status}}}'.encode()
            raise ProviderError(answer_failure(status, body, changes=False))
        counts = machine_counts(template) or {}
        return Estimate(sum(each or 0 for each in counts.values()), ("c",))

    async def create(self, template: Mapping[str, Any]) -> str:
        owner = self._in("create", listing=True)
        made = await self.model.create(self.session, owner, dict(template))
        if self.model.faults.wrong_id:
            made, self.model.faults.wrong_id = self.model.faults.wrong_id, ""
        if self.model.faults.lost_answers:
            self.model.faults.lost_answers -= 1
            raise self.model.failure(FaultMode.LOST)
        return made

    async def find(
        self, wanted: InfrastructureMarks, besides: Collection[str] = ()
    ) -> tuple[str, ...]:
        owner = self._in("list", listing=True)
        return tuple(
            each.id
            for each in self.model.infrastructures.values()
            if each.owner == owner and each.id not in besides and _marks(each).match(wanted)
        )

    async def marks(self, id: str) -> InfrastructureMarks:
        return _marks(self.model.held(id, self._in("template"), "template"))

    async def template(self, id: str) -> Mapping[str, Any] | None:
        found = self.model.held(id, self._in("template"), "template")
        return None if found.template_lost else found.template

    async def update(self, id: str, template: Mapping[str, Any], seconds: float) -> None:
        await self.model.update(id, self._in("update"), dict(template))

    async def reconfigure(self, id: str) -> None:
        await self.model.reconfigure(id, self._in("reconfigure"))

    async def replace(self, id: str, machines: Collection[str]) -> None:
        await self.model.replace(id, self._in("replace"), tuple(machines))

    async def delete(self, id: str, *, force: bool = False) -> None:
        await self.model.delete(id, self._in("delete"), force, wait=False)

    async def delete_now(self, id: str, seconds: float, *, force: bool = False) -> None:
        await self.model.delete(id, self._in("delete"), force, wait=True)

    async def state(self, id: str) -> InfrastructureState:
        return self.model.word_of(self.model.held(id, self._in("state"), "state"))

    async def outputs(self, id: str) -> Mapping[str, Any]:
        found = self.model.held(id, self._in("outputs"), "outputs")
        if found.template_lost:
            lost = b"'outputs' infrastructure property is not valid in this infrastructure"
            body = b'{"message": "%b", "code": 403}' % lost
            raise ProviderError(answer_failure(403, body, changes=False))
        topology = found.template.get("topology_template", {})
        if self.model.faults.outputs_missing:
            return dict.fromkeys(topology.get("outputs", {}))
        return {
            name: _value(each.get("value"), topology, found)
            for name, each in topology.get("outputs", {}).items()
        }

    async def machines(self, id: str, ids: Collection[str]) -> Mapping[str, MachineDetails]:
        found = self.model.held(id, self._in("machines"), "machines")
        return {
            each.id: MachineDetails(f"{each.node}-{each.id}", (f"10.0.0.{int(each.id) + 1}",))
            for each in found.machines.values()
            if each.id in ids
        }

    async def log(self, id: str) -> str:
        return self.model.held(id, self._in("log"), "log").log


def _marks(found: ModelledInfrastructure) -> InfrastructureMarks:
    marks = marks_of(found.template)
    return marks_in_name(marks.name) if found.template_lost else marks


def _merged(before: Any, after: Any) -> Any:
    """Templates are added to, and never taken from."""
    if isinstance(before, dict) and isinstance(after, dict):
        merged = dict(before)
        for key, value in after.items():
            merged[key] = _merged(before[key], value) if key in before else value
        return merged
    return after


def _value(value: Any, topology: Mapping[str, Any], found: ModelledInfrastructure) -> Any:
    """What an output comes to."""
    if isinstance(value, dict) and list(value) == ["get_input"]:
        return topology.get("inputs", {}).get(value["get_input"], {}).get("default")
    if isinstance(value, dict) and list(value) == ["concat"]:
        return "".join(str(_value(each, topology, found)) for each in value["concat"])
    if isinstance(value, dict) and list(value) == ["get_attribute"]:
        node = value["get_attribute"][0]
        for machine in found.machines.values():
            if machine.node == node and machine.state == "configured":
                return f"10.0.0.{int(machine.id) + 1}"
        return None
    return value
