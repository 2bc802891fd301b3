"""An Infrastructure Manager in memory, under virtual time, with the faults of the real one.

What IM 2.0.0 was seen to do is done here: a creation prepares for a while and lists no machine; a
deletion at that time is accepted, and its machines are launched all the same; while machines are
launched it refuses to delete; an update is answered when it is done, and one that overlaps another
launches machines twice; templates are merged; a deletion that fails says so only to who waits; the
same wrong password is 401 here and 400 there; `configured` is shown before `unconfigured`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from itertools import count
from typing import Any

from quintant.core.clock import monotonic
from quintant.keys.sensitive import Sensitive
from quintant.operators.infra.observed.answers import (
    ErrorClass,
    Failure,
    InfrastructureState,
    InfrastructureWord,
    ProviderError,
)
from quintant.operators.infra.observed.session import ProviderSession
from quintant.operators.infra.plan.diff import machine_counts
from quintant.operators.infra.remote.errors import answer_failure
from quintant.testing.explore.injection.fault import FaultMode
from quintant.testing.explore.remote import RemoteModel, effect
from quintant.testing.simulate.remotes.infrastructures import (
    ModelledInfrastructure,
    ModelledMachine,
    ProviderFaults,
)
from quintant.testing.simulate.remotes.provider_access import ModelledAccess

_ORDER = ("failed", "unknown", "pending", "running", "stopped", "off", "unconfigured", "configured")
_CHANGING = frozenset({"create", "update", "reconfigure", "replace", "delete"})


class ModelledProvider(RemoteModel):
    """One provider and the cloud behind it; `at(session)` is how it is reached."""

    def __init__(self) -> None:
        self.faults: ProviderFaults = ProviderFaults()
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

    refusals: tuple[FaultMode, ...] = (FaultMode.UNAVAILABLE, FaultMode.TIMEOUT)

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
        (infrastructure,) = self.infrastructures.values()
        return infrastructure

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

    def failure_of(self, message: str) -> Failure:
        return Failure(ErrorClass.TRANSIENT, "ProviderUnreachable", message, applied=False)

    def _refused(self, status: int, message: str, name: str = "") -> ProviderError:
        body = f'{{"message": "{message}", "code": {status}}}'.encode()
        return self._refusal(status, body, changes=name in _CHANGING)

    def _refusal(self, status: int, body: bytes, *, changes: bool) -> ProviderError:
        return ProviderError(answer_failure(status, body, changes=changes))

    def held(self, id: str, owner: str, name: str) -> ModelledInfrastructure:
        """The infrastructure of an id, if it is there and its owner asks."""
        infrastructure = self.infrastructures.get(id)
        if infrastructure is None:
            raise self._refused(404, "Invalid infrastructure ID or access not granted.", name)
        if infrastructure.owner != owner:
            raise self._refused(403, "Access to this infrastructure not granted.", name)
        return infrastructure

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
        infrastructure = ModelledInfrastructure(id, owner, dict(template), name)
        self.infrastructures[id] = infrastructure
        self.ledger.add("infrastructure", name)
        wanted = self.faults.cloud_password
        given = (session.cloud or {}).get("password")
        if wanted and (not isinstance(given, Sensitive) or given.reveal() != wanted):
            infrastructure.dead = True  # its thread dies without a word
        else:
            self._later(self.faults.prepare, lambda: self._launch(infrastructure))
        return id

    def _launch(self, infrastructure: ModelledInfrastructure) -> None:
        """Launch what the template asks for and is not there; whoever deleted it meanwhile."""
        if self.faults.launch_fail:
            infrastructure.configured, infrastructure.log = False, self.faults.launch_fail
            return
        for node, wanted in (machine_counts(infrastructure.template) or {}).items():
            have = [each for each in infrastructure.machines.values() if each.node == node]
            for _ in range((wanted or 0) - len(have)):
                self._add(infrastructure, node)
            for extra in have[: max(len(have) - (wanted or 0), 0)]:
                self._remove(infrastructure, extra)

    def _add(self, infrastructure: ModelledInfrastructure, node: str) -> None:
        number, infrastructure.next_machine = (
            infrastructure.next_machine,
            infrastructure.next_machine + 1,
        )
        gone = self.infrastructures.get(infrastructure.id) is not infrastructure
        machine = ModelledMachine(str(number), node, "pending", infrastructure.id, listed=not gone)
        key = f"{infrastructure.id}/{number}"
        self.cloud[key] = machine
        self.ledger.add("machine", key)
        if gone:
            return
        infrastructure.machines[machine.id] = machine
        infrastructure.launching += 1
        self._later(
            self.faults.launch * infrastructure.launching,
            lambda: self._launched(infrastructure, machine),
        )

    def _launched(self, infrastructure: ModelledInfrastructure, machine: ModelledMachine) -> None:
        infrastructure.launching = max(infrastructure.launching - 1, 0)
        machine.state = "running"
        self._later(self.faults.configure, lambda: self._configured(infrastructure, machine))

    def _configured(self, infrastructure: ModelledInfrastructure, machine: ModelledMachine) -> None:
        if machine.state not in ("running", "unconfigured"):
            return
        machine.state, infrastructure.configured = "configured", True
        if self.faults.no_address:
            self._later(2.0, lambda: self._without_address(infrastructure, machine))

    def _without_address(
        self, infrastructure: ModelledInfrastructure, machine: ModelledMachine
    ) -> None:
        if self.faults.no_address:
            machine.state, infrastructure.log = (
                "unconfigured",
                "No correct Master VM infrastructure",
            )

    def _remove(self, infrastructure: ModelledInfrastructure, machine: ModelledMachine) -> None:
        infrastructure.machines.pop(machine.id, None)
        self.cloud.pop(f"{infrastructure.id}/{machine.id}", None)
        self.ledger.remove("machine", f"{infrastructure.id}/{machine.id}")

    @effect
    async def update(self, id: str, owner: str, template: dict[str, Any]) -> None:
        """Merge a template, and make what is missing; answered when that is launched."""
        infrastructure = self.held(id, owner, "update")
        infrastructure.template = _merged(infrastructure.template, template)
        infrastructure.template_lost = infrastructure.dead = False
        if self.faults.launch_fail:
            raise self._refused(400, f"Error adding VMs: {self.faults.launch_fail}", "update")
        before = len(infrastructure.machines)
        self._launch(infrastructure)
        if len(infrastructure.machines) > before:
            await asyncio.sleep(self.faults.launch * (len(infrastructure.machines) - before))
        self.settle()
        for machine in infrastructure.machines.values():
            if machine.state == "unconfigured":
                self._later(
                    self.faults.configure, partial(self._configured, infrastructure, machine)
                )

    @effect
    async def reconfigure(self, id: str, owner: str) -> None:
        infrastructure = self.held(id, owner, "reconfigure")
        for machine in infrastructure.machines.values():
            machine.state = "running"
            self._later(self.faults.configure, partial(self._configured, infrastructure, machine))

    @effect
    async def replace(self, id: str, owner: str, machines: tuple[str, ...]) -> None:
        infrastructure = self.held(id, owner, "replace")
        for each in machines:
            if each in infrastructure.machines:
                self._remove(infrastructure, infrastructure.machines[each])

    @effect
    async def delete(self, id: str, owner: str, force: bool, wait: bool) -> None:
        infrastructure = self.held(id, owner, "delete")
        if infrastructure.launching:
            raise self._refused(409, "Invalid State: adding resources", "delete")
        if not infrastructure.machines and infrastructure.configured is None:
            # It is forgotten at once, and its thread launches all the same.
            self._forget(infrastructure)
            return
        if self.faults.finalize_fail and not force:
            if wait:
                raise self._refused(400, self.faults.finalize_fail, "delete")
            infrastructure.deleting = True
            self._later(self.faults.finalize, lambda: setattr(infrastructure, "deleting", False))
            return
        infrastructure.deleting = True
        if wait:
            await asyncio.sleep(self.faults.finalize)
            self._finalize(infrastructure)
        else:
            self._later(self.faults.finalize, lambda: self._finalize(infrastructure))

    def _finalize(self, infrastructure: ModelledInfrastructure) -> None:
        for machine in list(infrastructure.machines.values()):
            self._remove(infrastructure, machine)
        if self.faults.ghosts:
            self.faults.ghosts -= 1
            infrastructure.deleting, infrastructure.configured = False, True
            return
        self._forget(infrastructure)

    def _forget(self, infrastructure: ModelledInfrastructure) -> None:
        if self.infrastructures.pop(infrastructure.id, None) is not None:
            self.ledger.remove("infrastructure", infrastructure.name)

    def word_of(self, infrastructure: ModelledInfrastructure) -> InfrastructureState:
        """How an infrastructure is said to be."""
        states = {
            each.id: self.faults.machine_state or each.state
            for each in infrastructure.machines.values()
        }
        if infrastructure.deleting:
            return InfrastructureState(InfrastructureWord.DELETING, states)
        if not states:
            words = {None: "pending", False: "failed", True: "unknown"}
            return InfrastructureState(InfrastructureWord(words[infrastructure.configured]), {})
        word = min(states.values(), key=_ORDER.index)
        return InfrastructureState(InfrastructureWord(word), states)


def _merged(before: Any, after: Any) -> Any:
    """Templates are added to, and never taken from."""
    if isinstance(before, dict) and isinstance(after, dict):
        merged = dict(before)
        for key, value in after.items():
            merged[key] = _merged(before[key], value) if key in before else value
        return merged
    return after
