"""Carries out what was decided: the record first, then one call, then what follows from it.

    Decision ──record──> status ──call──> provider ──answer──> conclude ──> status, events

A record that cannot be written, because somebody else wrote first or the Cluster is going, ends the
pass: the next one observes again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import count

from quintant.api.core import Secret
from quintant.core.errors import AlreadyExists
from quintant.core.object import Request
from quintant.core.owner import controller_of
from quintant.operators.infra.act.status import record_status, write_status
from quintant.operators.infra.api import Cluster
from quintant.operators.infra.api.names import SecretKeyRef
from quintant.operators.infra.builders import (
    TEMPLATE_KEY,
    kept_template,
    kubeconfig_secret,
    template,
)
from quintant.operators.infra.metrics import InfraMetrics
from quintant.operators.infra.observe.answers import ProviderError
from quintant.operators.infra.observe.observed import (
    CallKind,
    ClusterMemory,
    Observed,
    ProviderCall,
    WatchedSecret,
)
from quintant.operators.infra.plan import conclude
from quintant.operators.infra.plan.decision import NOTHING, Act, Action, PassDecision
from quintant.operators.infra.plan.status import StatusChange
from quintant.operators.infra.remote import Provider
from quintant.runtime.controller.context import Context
from quintant.runtime.controller.long_calls import LongCalls

LEAST_SECONDS = 60.0
"""What a long call may take at least, whatever a spec says."""


@dataclass(frozen=True, slots=True)
class Performer:
    """Carries out decisions about Clusters."""

    calls: LongCalls[None]
    metrics: InfraMetrics
    _serials: Iterator[int] = field(default_factory=lambda: count(1), repr=False)

    async def perform(
        self,
        ctx: Context[Cluster],
        seen: Observed,
        decision: PassDecision,
        provider: Provider | None,
    ) -> PassDecision:
        """Do what was decided; the decision that the pass ends with, memory included."""
        memory = decision.memory or seen.memory
        act = decision.act
        if act is None or provider is None:
            known = await self._write(ctx, seen, decision)
            return replace(decision, memory=memory, after=decision.after if known else None)
        if act.record is not None:
            seen = replace(seen, cluster=await record_status(ctx, seen.cluster, act.record))
        ctx.tell(*decision.events)
        if act.action is Action.LONG_CALL:
            return replace(decision, memory=self._begin(ctx, seen, act, provider, memory))
        answer = await self._answer(ctx, seen, act, provider)
        ended = conclude(replace(seen, memory=memory), act, answer)
        await self._write(ctx, seen, ended)
        after = ended.after if ended.after is not None else decision.after
        return replace(ended, after=after, memory=ended.memory or memory)

    async def _write(self, ctx: Context[Cluster], seen: Observed, decision: PassDecision) -> bool:
        """Write what was decided, tell of it, and count what it ends."""
        change = await keep_template(ctx, seen.cluster, decision.change)
        known = change == NOTHING or await write_status(ctx, seen.cluster, change)
        ctx.tell(*decision.events)
        operation, fields = seen.status.operation, decision.change.fields
        if operation is not None and fields.get("operation", operation) is None:
            self.metrics.ended(operation, seen.now)
        if any(each.reason == "Adopted" for each in decision.events):
            self.metrics.adoptions.inc()
        return known

    def _begin(
        self,
        ctx: Context[Cluster],
        seen: Observed,
        act: Act,
        provider: Provider,
        memory: ClusterMemory,
    ) -> ClusterMemory:
        operation, status = seen.status.operation, seen.status
        assert operation is not None, "a long call is on record"
        assert act.call is not None, "it says which call it is"
        named = operation.token if act.call is CallKind.DELETE else operation.hash
        call = ProviderCall(act.call, named, operation.attempt)
        if self.calls.is_under_way(ctx.request):
            return memory
        serial, work = next(self._serials), self._work(seen, act, provider, status.cluster_id)
        self.calls.begin(ctx.request, (call, serial), work)
        return replace(memory, call=call, serial=serial)

    def _work(
        self, seen: Observed, act: Act, provider: Provider, id: str
    ) -> Callable[[], Awaitable[None]]:
        operation = seen.status.operation
        token = operation.token if operation is not None else ""
        sent = template(seen.cluster, token or seen.cluster.metadata.uid, seen.instance)

        async def work() -> None:
            match act.call:
                case CallKind.DRY_RUN:
                    await provider.plan(sent)
                case CallKind.UPDATE:
                    limit = max(seen.timeout("update"), LEAST_SECONDS)
                    await provider.update(id, sent, limit)
                case CallKind.DELETE:
                    limit = max(seen.timeout("delete"), LEAST_SECONDS)
                    await provider.delete_now(act.target or id, limit, force=act.force)

        return work

    async def _answer(
        self, ctx: Context[Cluster], seen: Observed, act: Act, provider: Provider
    ) -> object:
        """The answer to an action that is soon over."""
        if act.action is Action.SAVE:
            new = seen.secret is None
            return await save_kubeconfig(ctx, seen.cluster, act.kubeconfig, new=new)
        try:
            return await self._call(seen, act, provider)
        except ProviderError as error:
            return error.failure

    async def _call(self, seen: Observed, act: Act, provider: Provider) -> str | None:
        status, operation = seen.status, seen.status.operation
        match act.action:
            case Action.CREATE:
                assert operation is not None, "a creation is on record"
                return await provider.create(template(seen.cluster, operation.token, seen.instance))
            case Action.RECONFIGURE:
                self.metrics.reconfigurations.inc()
                await provider.reconfigure(status.cluster_id)
            case Action.REPLACE:
                self.metrics.reconfigurations.inc()
                await provider.replace(status.cluster_id, act.machines)
            case Action.DELETE:
                await provider.delete(act.target or status.cluster_id, force=act.force)
        return None


async def save_kubeconfig(
    ctx: Context[Cluster], cluster: Cluster, kubeconfig: str, *, new: bool
) -> str:
    """Write the Secret; why not, if its name is somebody else's. A `new` one is not known yet."""
    wanted = kubeconfig_secret(cluster, kubeconfig)
    if new:
        with suppress(AlreadyExists):
            await ctx.client.create(wanted)
            return ""
    if not await _applied(ctx, cluster, wanted):
        return f"Secret {wanted.metadata.name} exists and is not ours: rename or remove it"
    return ""


async def keep_template(
    ctx: Context[Cluster], cluster: Cluster, change: StatusChange
) -> StatusChange:
    """The same change; a template that is too large for a status goes into a Secret."""
    if "last_applied_tosca" not in change.fields:
        return change
    tosca = change.fields["last_applied_tosca"]
    secret = kept_template(cluster, tosca) if tosca is not None else None
    if secret is None:
        return change + StatusChange({"last_applied_ref": None})
    kept = await _applied(ctx, cluster, secret)
    ref = SecretKeyRef(name=secret.metadata.name, key=TEMPLATE_KEY) if kept else None
    return change + StatusChange({"last_applied_tosca": None, "last_applied_ref": ref})


async def _applied(ctx: Context[Cluster], cluster: Cluster, wanted: Secret) -> bool:
    """Write a Secret, unless its name is somebody else's."""
    # Caches hold only Secrets with our label, and a Secret of somebody else's is not to be lost.
    found = await ctx.client.find(Secret, *wanted.key, live=True)
    if found is not None and not _ours(found, cluster):
        return False
    await ctx.client.apply(wanted)
    return True


def _ours(secret: Secret, cluster: Cluster) -> bool:
    held = controller_of(secret)
    return held is not None and held.uid == cluster.metadata.uid


async def remove_secrets(ctx: Context[Cluster], cluster: Cluster) -> None:
    """Delete the Secrets that are ours."""
    status = cluster.status
    names = [kubeconfig_secret(cluster, "").metadata.name]
    if status is not None and status.last_applied_ref is not None:
        names.append(status.last_applied_ref.name)
    for key in (Request(name, cluster.metadata.namespace) for name in names):
        found: Secret | None = await ctx.client.find(WatchedSecret, *key)
        found = found or await ctx.client.find(Secret, *key, live=True)
        if found is not None and _ours(found, cluster):
            await ctx.client.delete(found)
