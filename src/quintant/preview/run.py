"""One preview: a manager at work on a copy until nothing is queued, and what became of the copy."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from quintant.client.config.config import Config
from quintant.client.transport import InProcessTransport, Transport
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.core.clock import monotonic
from quintant.core.errors import ConfigError, QuintantError, leaf_errors
from quintant.core.object import Object
from quintant.core.resource import is_external_kind, resource_of
from quintant.preview.cluster_copy import ClusterCopy, stored_objects
from quintant.preview.dry_run import DryRun
from quintant.preview.live_reader import JsonObject, LiveReader, LiveRefusal
from quintant.preview.object_diffs import (
    ObjectDiff,
    collect_garbage,
    differing,
    new_conditions,
    object_diffs,
)
from quintant.preview.transport import PreviewedWrite, PreviewTransport
from quintant.runtime.manager.engine import Engine
from quintant.runtime.manager.environment import Environment
from quintant.runtime.manager.install_crds import install_crds, install_definitions
from quintant.runtime.manager.manager import Manager

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
EVENTS = ("events.k8s.io", "v1", "events")
LOOK_SECONDS = 0.05
"""Between two looks at whether anything is queued."""
ERRORS = "controller_runtime_reconcile_errors_total"
Progress = Callable[[int], None]
_GIVEN = ("name", "labels", "annotations")


class PreviewLimits(Struct, frozen=True):
    """When a preview is over."""

    seconds: float = 60.0
    """At the latest."""
    quiet: float = 1.0
    """After so many seconds in which nothing was queued or under way."""
    writes: int = 10_000
    """A manager that writes without end is stopped here."""
    server_dry_run: bool = False
    """Whether the cluster is asked about every write, as a dry run, before the copy is."""


class PreviewedEvent(Struct, frozen=True, order=True):
    """An event that the manager reported."""

    type: str
    reason: str
    regarding: str
    note: str


class Preview(Struct, frozen=True):
    """What a manager would have done."""

    changes: list[ObjectDiff]
    events: list[PreviewedEvent]
    refused: list[PreviewedWrite]
    """Writes that the copy refused, as the cluster would."""
    findings: list[str]
    """What could not be judged, and what went on for too long."""
    writes: int
    """How many there were, refused ones among them."""
    calls: list[str] = []
    """Calls of systems outside that would be made; a preview makes none but those that read."""

    @property
    def words(self) -> set[str]:
        """What `--fail-on` may name, of all that is in here."""
        changes = {each.action.value for each in self.changes}
        conditions = {
            f"status={type}" for type, held in new_conditions(self.changes) if held == "True"
        }
        findings = {"finding"} if self.findings or self.refused else set()
        return changes | conditions | findings | ({"call"} if self.calls else set())

    def beside(self, baseline: Preview) -> Preview:
        """What is otherwise than in the preview of another version.

        What could not be judged of either was not compared, so all of that stays.
        """
        others = [each for each in baseline.findings if each not in self.findings]
        return replace(
            self,
            changes=differing(baseline.changes, self.changes),
            events=sorted(set(self.events) - set(baseline.events)),
            refused=[each for each in self.refused if each not in baseline.refused],
            calls=[each for each in self.calls if each not in baseline.calls],
            findings=[*self.findings, *(f"of the baseline: {each}" for each in others)],
        )


async def preview(
    manager: Manager,
    environment: Environment,
    limits: PreviewLimits = PreviewLimits(),
    progress: Progress = lambda _: None,
) -> Preview:
    """Run a manager beside the cluster of an environment, until it rests; nothing is written there.

    With `server_dry_run` its writes are sent, too, every one as a dry run.

    ConfigError if it cannot begin; whatever else a manager ends with is a finding. `progress` hears
    now and then how many writes there were.
    """
    server = ApiServer(clock=environment.clock, random=environment.random)
    copy = ClusterCopy(LiveReader(environment.transport), server)
    await _define(copy, environment.transport, manager)
    dry_run = DryRun(copy) if limits.server_dry_run else None
    transport = PreviewTransport(copy, limits.writes, dry_run)
    manager.configure(leader_elect=False, shards=None, sync_timeout=limits.seconds)
    manager.remote_calls.hold()
    alone = replace(
        environment, transport=transport, listen=False, tracer=None, connect=_refuse_cluster
    )
    engine = manager.bind(alone)
    findings = [each async for each in _worked(engine, transport, limits, progress)]
    before, after = copy.states()
    return Preview(
        object_diffs(before, collect_garbage(before, after)),
        sorted(set(_events(server))),
        [each for each in transport.writes if each.status >= 300 and each.status != 409],
        [*copy.findings, *(dry_run.findings if dry_run else ()), *findings, *_failures(engine)],
        len(transport.writes),
        list(manager.remote_calls.held or ()),
    )


async def _worked(
    engine: Engine, transport: PreviewTransport, limits: PreviewLimits, progress: Progress
) -> AsyncIterator[str]:
    """Run it until it rests; yields why that was not the end that was wanted."""
    task = asyncio.ensure_future(engine.run())
    began, rested_at = monotonic(), monotonic()
    try:
        while not task.done():
            now = monotonic()
            if not engine.started.is_set() or not engine.idle:
                rested_at = now
            if now - rested_at >= limits.quiet:
                return
            if transport.exhausted:
                yield f"it was stopped after {limits.writes} writes"
                return
            if now - began >= limits.seconds + limits.quiet:
                yield f"it was still at work after {limits.seconds:g} s"
                return
            progress(len(transport.writes))
            await asyncio.wait({task}, timeout=LOOK_SECONDS)
        for error in leaf_errors(task.exception() or ConfigError("it ended by itself")):
            if isinstance(error, ConfigError) and not engine.started.is_set():
                raise error
            yield f"it ended: {error}"
    finally:
        engine.abandon()
        task.cancel()
        with suppress(asyncio.CancelledError, QuintantError, ExceptionGroup):
            await task


async def _define(copy: ClusterCopy, live: Transport, manager: Manager) -> None:
    """Have the manager's definitions on the copy, and those of others as the cluster has them."""
    kinds, reader = manager.kinds(), LiveReader(live)
    admin = InProcessTransport(copy.server)
    await install_crds(admin, kinds)
    for kind in kinds:
        if is_external_kind(kind):
            await _define_external(copy, reader, admin, kind)


async def _define_external(
    copy: ClusterCopy, reader: LiveReader, admin: Transport, kind: type[Object]
) -> None:
    name = resource_of(kind).full_name
    try:
        found = await reader.get(f"{CRDS}/{name}")
    except LiveRefusal as refused:
        copy.findings.append(f"the definition of {name} cannot be read: {refused.reply.status}")
        return
    if found is not None:
        await install_definitions(admin, [_bare(found)])


def _bare(definition: JsonObject) -> JsonObject:
    """A definition without what only its cluster knows, and without its webhook."""
    metadata = {key: value for key, value in definition["metadata"].items() if key in _GIVEN}
    spec = {key: value for key, value in definition["spec"].items() if key != "conversion"}
    names = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    return {**names, "metadata": metadata, "spec": spec}


def _events(server: ApiServer) -> Iterator[PreviewedEvent]:
    kind = server.catalog.find(*EVENTS)
    assert kind is not None, "every server has events"
    for obj in stored_objects(server, kind):
        about: Mapping[str, Any] = obj.get("regarding") or {}
        regarding = "/".join(filter(None, (about.get("namespace"), about.get("name"))))
        yield PreviewedEvent(
            str(obj.get("type") or ""),
            str(obj.get("reason") or ""),
            f"{about.get('kind', '')} {regarding}",
            str(obj.get("note") or ""),
        )


def _failures(engine: Engine) -> Iterator[str]:
    for controller in engine.controllers:
        failed = engine.metrics.registry.value(ERRORS, {"controller": controller.name})
        if failed:
            yield f"controller {controller.name}: {failed:g} reconciles failed"


def _refuse_cluster(name: str, _: Config) -> Transport:
    """A preview writes nowhere, so it looks at home alone."""
    raise ConfigError(f"cluster {name} is left out", because="a preview looks at home alone")
