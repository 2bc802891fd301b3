"""Reads what is known about a Cluster, and asks the provider what is open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from quintant.api.core import Secret
from quintant.core.object import Opaque, Request
from quintant.operators.infra.api import Cluster
from quintant.operators.infra.builders import secret_name, unpacked_template
from quintant.operators.infra.observe.answers import (
    Ended,
    ErrorClass,
    Failure,
    InfrastructureWord,
    ProviderError,
)
from quintant.operators.infra.observe.keys import ID_INDEX
from quintant.operators.infra.observe.observed import (
    Binding,
    ClusterMemory,
    Observed,
    ProviderQuestion,
    Unresolved,
    WatchedSecret,
    secret_value,
)
from quintant.operators.infra.observe.session import ProviderSession, Resolver
from quintant.operators.infra.options import Options
from quintant.operators.infra.plan import follow_up, question
from quintant.operators.infra.plan.delete_request import target_of
from quintant.operators.infra.plan.diff import template_digest
from quintant.operators.infra.remote import Provider, Providers
from quintant.runtime.controller.context import Context
from quintant.runtime.controller.long_calls import LongCalls

_BAD = (InfrastructureWord.UNCONFIGURED, InfrastructureWord.FAILED)
"""States whose reason is in the provider's log."""


@dataclass(frozen=True, slots=True)
class ClusterReader:
    """Observes Clusters; what it remembers of each is only hints."""

    options: Options
    resolver: Resolver
    providers: Providers
    calls: LongCalls[None]
    memories: dict[Request, ClusterMemory] = field(default_factory=dict)

    async def observe(self, ctx: Context[Cluster]) -> tuple[Observed, Provider | None]:
        """Everything about a Cluster, and the provider to speak to, if there is one."""
        seen = await self._cached(ctx)
        found = await self.resolver.of_cluster(ctx.client, ctx.obj)
        provider: Provider | None = None
        match found:
            case Unresolved():
                seen = replace(seen, unresolved=found)
            case (Binding() as binding, ProviderSession() as session):
                seen, provider = replace(seen, binding=binding), self.providers(session)
        if provider is None:
            return seen, None
        return await ask(seen, provider), provider

    async def _cached(self, ctx: Context[Cluster]) -> Observed:
        cluster, client, request = ctx.obj, ctx.client, ctx.request
        memory = self.memories.get(request, ClusterMemory())
        ended, call = None, memory.call
        if call is not None and not self.calls.is_under_way(request):
            outcome = self.calls.outcome(request, (call, memory.serial))
            ended = _ended(outcome.error) if outcome is not None else None
            call = call if outcome is not None else None
        name = secret_name(cluster.metadata.name)
        return Observed(
            cluster=cluster,
            now=ctx.clock.now(),
            memory=memory,
            secret=await client.find(WatchedSecret, name, request.namespace),
            kubeconfig=await self._given(ctx),
            kept=await self._kept(ctx),
            call=call,
            ended=ended,
            rivals=await self._rivals(ctx),
            poll_min=self.options.poll_min,
            poll_max=self.options.poll_max,
            observe_interval=self.options.observe_interval,
            instance=self.options.instance_id,
        )

    async def _given(self, ctx: Context[Cluster]) -> str | None:
        """The kubeconfig of a cluster that somebody else made."""
        ref = ctx.obj.spec.kubeconfig_secret_ref
        if ref is None or ctx.obj.spec.tosca is not None:
            return None
        key = Request(ref.name, ctx.request.namespace)
        secret = await self.resolver.secrets.find(ctx.client, key)
        raw = secret_value(secret, ref.key or "value")
        return raw.decode("utf-8", "replace") if raw is not None else None

    async def _kept(self, ctx: Context[Cluster]) -> Opaque | None:
        """The template that was last applied, where the status only says where it is."""
        status, tosca = ctx.obj.status, ctx.obj.spec.tosca
        ref = status.last_applied_ref if status is not None else None
        if status is None or ref is None or tosca is None:
            return None
        if status.last_applied_hash == template_digest(tosca):
            return tosca
        secret = await ctx.client.find(Secret, ref.name, ctx.request.namespace, live=True)
        raw = secret_value(secret, ref.key or "")
        return unpacked_template(raw) if raw is not None else None

    async def _rivals(self, ctx: Context[Cluster]) -> tuple[str, ...]:
        wanted = ctx.obj.spec.adopt_infrastructure_id
        if not wanted:
            return ()
        found = await ctx.client.list(Cluster, index=(ID_INDEX, wanted))
        mine = ctx.obj.metadata.uid
        return tuple(sorted(str(each.key) for each in found if each.metadata.uid != mine))


async def ask(seen: Observed, provider: Provider) -> Observed:
    """The same, with the provider's answer to the question that is open."""
    try:
        match question(seen):
            case ProviderQuestion.STATE:
                told = await _state(seen, provider, target_of(seen))
                return await _followed(told, provider)
            case ProviderQuestion.FIND:
                operation = seen.status.operation
                token = operation.token if operation is not None else ""
                return replace(seen, found=await provider.find(token))
            case ProviderQuestion.OUTPUTS:
                return replace(seen, outputs=await provider.outputs(seen.status.cluster_id))
            case ProviderQuestion.ADOPT:
                return await _adoptable(seen, provider)
    except ProviderError as error:
        return _unanswered(seen, error.failure)
    return seen


async def _state(seen: Observed, provider: Provider, id: str) -> Observed:
    state = await provider.state(id)
    known = seen.status.infrastructure
    seen = replace(seen, state=state)
    if id != seen.status.cluster_id:
        return seen
    if state.settled in _BAD and (known is None or known.state != state.settled.value):
        seen = replace(seen, log=await _log(provider, id))
    listed = {each.id for each in known.vms if each.addresses} if known is not None else set()
    new = [
        each for each, word in state.machines.items() if each not in listed and word != "pending"
    ]
    if new and not seen.cluster.deleting:
        seen = replace(seen, details=await _details(provider, id, new))
    return seen


async def _followed(seen: Observed, provider: Provider) -> Observed:
    """The same, with the outputs of what turns out to be done."""
    if follow_up(seen) is not ProviderQuestion.OUTPUTS:
        return seen
    try:
        return replace(seen, outputs=await provider.outputs(seen.status.cluster_id))
    except ProviderError as error:
        return replace(seen, outputs=error.failure)


async def _log(provider: Provider, id: str) -> str:
    try:
        return await provider.log(id)
    except ProviderError:
        return ""


async def _details(provider: Provider, id: str, ids: list[str]) -> Mapping[str, Any] | None:
    """Names and addresses; what cannot be had now is asked for at the next change."""
    try:
        return await provider.machines(id, ids)
    except ProviderError:
        return None


async def _adoptable(seen: Observed, provider: Provider) -> Observed:
    id = seen.cluster.spec.adopt_infrastructure_id
    state = await provider.state(id)
    return replace(seen, state=state, adopted=await provider.template(id))


def _unanswered(seen: Observed, failure: Failure) -> Observed:
    match question(seen):
        case ProviderQuestion.FIND:
            return replace(seen, found=failure)
        case ProviderQuestion.OUTPUTS:
            return replace(seen, outputs=failure)
    return replace(seen, state=failure)


def _ended(error: Exception | None) -> Ended:
    """How a long call ended, as decisions see it."""
    if error is None:
        return Ended()
    if isinstance(error, ProviderError):
        return Ended(failure=error.failure)
    said = "the call failed inside this program"
    return Ended(failure=Failure(ErrorClass.INTERNAL, "InternalError", said, applied=None))
