"""What a script has in its hands: a cluster, the processes under test, remotes, and time.

What the script does is done at once and never disturbed; faults strike the processes only. Reads
for invariants (`all`, `one`) are synchronous and see the very moment.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, MutableSet
from datetime import timedelta
from typing import Any

import msgspec
from msgspec.structs import replace

from quintant.client.rest import APPLY
from quintant.client.transport import InProcessTransport
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.cluster.apiserver.storage.history import Change
from quintant.cluster.apiserver.storage.revision_log import Snapshot, Table
from quintant.core import codec
from quintant.core.clock import Random, monotonic, seconds_of
from quintant.core.errors import ApiError, ConfigError, Conflict
from quintant.core.object import K, Model, Object
from quintant.core.resource import resource_of
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.engine import Engine
from quintant.runtime.manager.manager import Manager
from quintant.testing.cluster import InProcessCluster
from quintant.testing.explore.injection.crash_states import fingerprint
from quintant.testing.explore.injection.fault import RunToken
from quintant.testing.explore.injection.injector import Injector
from quintant.testing.explore.injection.members import MemberFaults
from quintant.testing.explore.injection.somebody_else import SomebodyElse
from quintant.testing.explore.injection.supervisor import Supervisor
from quintant.testing.explore.injection.trace import Trace
from quintant.testing.explore.remote import RemoteModel
from quintant.testing.explore.scenario import Scenario, check_managers
from quintant.testing.explore.simulation.normalise import Normalised, normalised
from quintant.testing.explore.simulation.objects import IGNORED_TABLES, ObjectView, describe
from quintant.testing.explore.simulation.owner_collector import OwnerCollector
from quintant.testing.explore.simulation.quiescence import Quiescence
from quintant.testing.explore.simulation.rest import rest_violations
from quintant.testing.explore.simulation.violations import Violations

# Who works by an old view may never get quiet, and need not: it ends after so long.
STAGE_SECONDS = 5.0
# Whatever of these changes, changes the store.
_OF_THE_CLUSTER = (InProcessCluster, ApiServer, Client, Engine)
# How often a user who meets a conflict tries again.
EDIT_TRIES = 5


class ScriptEnded(Exception):
    """As much of the script has run as this run wants."""


class ScenarioWorld:
    """The world of one run."""

    def __init__(
        self,
        scenario: Scenario,
        cluster: InProcessCluster,
        base: Snapshot,
        injector: Injector,
        trace: Trace,
        *,
        token: RunToken = RunToken(),
        replicas: int = 1,
        used: MutableSet[Manager],
    ) -> None:
        self.cluster = cluster
        """The cluster that everything happens in."""
        self.remotes: Mapping[str, Any] = _named(scenario.remotes())
        """What is outside of it, by name: the models that the scenario's `remotes` made."""
        self.violations: Violations = Violations(trace, scenario.secrets)
        """What did not hold at some moment."""
        self.states: list[Normalised] = []
        """The world as it was whenever it had become quiet."""
        self.tasks: set[asyncio.Task[None]] = set()
        """What the script has going on beside it."""
        self._others: list[Engine] = []
        self.random: Random = Random(f"script {token.seed}")
        """Chance for scripts: the same in every run."""
        self.trace = trace
        """What happened so far."""
        self.specs: tuple[bytes, ...] = token.specs
        """What users apply one after the other, where a scenario leaves that open."""
        self.refusals: dict[int, str] = {}
        """Why what a user applied was refused, by the number of the step."""
        self._scenario, self._base, self._steps = scenario, base, token.steps
        self._gone = token.gone
        self._rest = (-1, 0.0)
        self._ending = False
        self._changes = 0
        self._view = ObjectView(cluster.server)
        self.collector: OwnerCollector = OwnerCollector(cluster.server, cluster.admin)
        self.supervisor: Supervisor = Supervisor(
            cluster,
            lambda: check_managers(scenario.managers(self), used),
            injector,
            trace,
            restart_after=scenario.restart_after,
            seed=token.seed,
            replicas=replicas,
        )
        somebody = SomebodyElse(cluster.server, cluster.admin, base)
        members = MemberFaults(self.supervisor, cluster.admin, trace)
        injector.attach(cluster.server, somebody, self.supervisor.crash, members, self._left)
        self._injector = injector
        self._quiescence = Quiescence(
            self.supervisor.engines,
            self._changed,
            self._unsettled,
            lambda: injector.stages.urgent(last=self._ending),
            scenario.calm,
            scenario.bound,
            STAGE_SECONDS,
        )
        cluster.server.store.subscribe(self._written)

    @property
    def client(self) -> Client:
        """A client for what has no word of its own here: no cache, no faults."""
        return self.cluster.client

    async def create(self, obj: K) -> K:
        """Create an object, in the namespace "default" if it names none."""
        self.trace.tell(f"- create {describe(obj)}")
        return await self.cluster.create(obj)

    async def edit(
        self, kind: type[K], name: str, change: Callable[[K], K], namespace: str = "default"
    ) -> K:
        """Change an object as a user would, who tries again if somebody else was faster."""
        found = await self.client.get(kind, name, namespace)
        self.trace.tell(f"- edit {describe(found)}")
        for _ in range(EDIT_TRIES):
            try:
                return await self.client.patch(change(found), since=found)
            except Conflict:
                found = await self.client.get(kind, name, namespace)
        return await self.client.patch(change(found), since=found)

    async def apply_spec(self, obj: Object, spec: Any) -> None:
        """Apply an object with this spec as a user does; what the server refuses is noted."""
        self.trace.tell(f"- apply {describe(obj)}")
        if why := await refusal_of(self.client, obj, spec):
            self.trace.tell(f"  refused: {why}")
            self.refusals[self.trace.steps] = why

    async def set_status(self, obj: K, status: Model) -> K:
        """Set an object's status, as whoever owns it would."""
        self.trace.tell(f"- set status of {describe(obj)}")
        return await self.client.set_status(obj, status)

    async def delete(self, kind: type[Object], name: str, namespace: str = "default") -> None:
        """Delete an object; its children go with it."""
        found = await self.client.get(kind, name, namespace)
        self.trace.tell(f"- delete {describe(found)}")
        await self.client.delete(found)

    async def run(self, manager: Manager) -> None:
        """Run a manager that is no part of what is tested: faults do not strike it."""
        environment = replace(
            self.cluster.environment(), transport=InProcessTransport(self.cluster.server)
        )
        self._others.append(await self.cluster.run(manager, environment=environment))

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Have something done beside the script until its end: a modelled kubelet, a visitor."""
        self.tasks.add(asyncio.ensure_future(work))

    async def restart(self) -> None:
        """Stop every process under test in order, and start it again."""
        self.trace.tell("- restart")
        await self.supervisor.restart()

    async def advance(self, duration: float | timedelta) -> None:
        """Let time pass, whatever happens in it."""
        self.trace.tell(f"- {seconds_of(duration):g} s pass")
        await asyncio.sleep(seconds_of(duration))

    async def quiet(self) -> None:
        """Wait until nothing is queued, in flight or due: the end of a step."""
        await self._still(last=self.trace.steps + 1 == self._steps)
        self.states.append(self.state())
        self._rest = (self._changed(), monotonic())
        self.trace.steps += 1
        self.trace.tell(f"  quiet ({self.trace.steps})")
        if self.trace.steps == self._steps and self._gone:
            await self._injector.delete_calmly(self._gone)
            await self._still(last=True)
            self.states[-1] = self.state()
        if self.trace.steps == self._steps or self._injector.gone:
            raise ScriptEnded

    async def finish(self) -> None:
        """The end of the script: quiet, and nothing left that was to follow."""
        if not self.at_rest:
            await self.quiet()
        if self._injector.stages.left(last=True):
            await self._still(last=True)
            self.states[-1] = self.state()
        engines, disturbed = self.supervisor.engines, self.disturbed
        for each in await rest_violations(engines, self.trace, disturbed=disturbed):
            self.violations.note(each)

    async def _still(self, *, last: bool = False) -> None:
        self._ending = last
        await self._quiescence.wait()
        while (stage := self._injector.stages.take(last=last)) is not None:
            await stage.act()
            await self._quiescence.wait()

    @property
    def disturbed(self) -> bool:
        """Whether this run has faults."""
        return self._injector.disturbs

    @property
    def at_rest(self) -> bool:
        """Whether nothing has happened since the world was quiet."""
        return self._rest == (self._changed(), monotonic())

    def all(self, kind: type[K], namespace: str = "") -> list[K]:
        """Every object of a kind at this moment."""
        return self._view.all(kind, namespace)

    def one(self, kind: type[K], name: str, namespace: str = "default") -> K | None:
        """One object at this moment; None if it is absent."""
        return self._view.find(kind, name, namespace)

    def state(self) -> Normalised:
        """Everything that runs are compared by."""
        made = normalised(self._view, self._base, self._scenario.normalise)
        for name, model in self.remotes.items():
            made[f"remote {name}"] = {"state": model.state()}
        return made

    def _left(self) -> bytes | None:
        """What tells this moment from another one, for who has just started."""
        cluster, engines = self.cluster, self.supervisor.engines()
        # How far the script has come follows from what it did, and who has started for it.
        script = self.trace.remarks, [engine.started.is_set() for engine in engines]
        # A model has a ledger once it was asked for it.
        ledgers = [model.ledger for model in self.remotes.values()]
        outside = ledgers, self.remotes, vars(self._scenario), cluster.ids, script
        known = fingerprint(outside, _OF_THE_CLUSTER)
        return None if known is None else b"%d " % cluster.server.store.revision + known

    def _unsettled(self) -> bool:
        """Whether somebody has something to do who is not tested, or is not there yet."""
        others = any(not engine.idle for engine in self._others)
        return others or self.collector.busy or self.supervisor.restarting

    def _changed(self) -> int:
        models: Iterable[RemoteModel] = self.remotes.values()
        return self._changes + sum(model.ledger.changes for model in models)

    def _written(self, table: Table, change: Change) -> None:
        self.violations.search_secrets(table, change)
        if table.name in IGNORED_TABLES:
            return
        self._changes += 1
        self._injector.note_write(table.name, change.key, change.rv)
        if type(self._scenario).always is not Scenario.always:
            self.violations.check(self._scenario.always, self)


async def refusal_of(client: Client, obj: Object, spec: Any) -> str:
    """Apply an object with this spec, on the server's side; why it is refused, or nothing."""
    resource, meta = resource_of(type(obj)), obj.metadata
    document = {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "metadata": msgspec.json.decode(codec.encode(obj))["metadata"],
        "spec": spec,
    }
    try:
        await client.raw(
            "PATCH",
            f"{resource.path(meta.namespace, meta.name)}?fieldManager=user&force=true",
            body=msgspec.json.encode(document),
            headers={"content-type": APPLY},
        )
    except ApiError as error:
        return str(error)
    return ""


def _named(remotes: Mapping[str, Any]) -> Mapping[str, RemoteModel]:
    for name, model in remotes.items():
        if not isinstance(model, RemoteModel):
            raise _not_a_model(name, model)
        model.name = name
    return remotes


def _not_a_model(name: str, value: object) -> ConfigError:
    return ConfigError(
        f"remote {name!r} is not a model",
        because=f"it is a {type(value).__name__}: its calls cannot be lost, nor made again",
        hint="subclass RemoteModel, keep everything in memory, and mark what changes it @effect",
    )
