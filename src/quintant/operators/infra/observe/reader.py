"""Reads what is known about a Cluster, and asks the provider what is open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from quintant.api.core import Secret
from quintant.core.object import Opaque, Request
from quintant.operators.infra.api import Cluster, InfrastructureClaim
from quintant.operators.infra.builders import secret_name, unpacked_template
from quintant.operators.infra.observe.claims import addresses, claimed_ids, holding_of
from quintant.operators.infra.observe.keys import CLAIMED_INDEX, HOLDER_INDEX, ID_INDEX
from quintant.operators.infra.observe.session import Resolver
from quintant.operators.infra.observed.answers import (
    Ended,
    ErrorClass,
    Failure,
    InfrastructureWord,
    ProviderError,
)
from quintant.operators.infra.observed.cluster import (
    Binding,
    ClusterMemory,
    Holding,
    Observed,
    ProviderQuestion,
    Unresolved,
    WatchedSecret,
    address_of,
    secret_value,
)
from quintant.operators.infra.observed.session import ProviderSession
from quintant.operators.infra.options import Options
from quintant.operators.infra.plan import follow_up, question
from quintant.operators.infra.plan.delete_request import target_of
from quintant.operators.infra.plan.diff import template_digest
from quintant.operators.infra.plan.search import named_ids, sought_marks, wished_id
from quintant.operators.infra.remote import Provider, Providers
from quintant.runtime.reconcile.context import Context
from quintant.runtime.reconcile.keyed_state import KeyedState
from quintant.runtime.remote_calls import HeldCall
from quintant.runtime.source.long_calls import LongCalls

_BAD = (InfrastructureWord.UNCONFIGURED, InfrastructureWord.FAILED)
"""States whose reason is in the provider's log."""


@dataclass(frozen=True, slots=True)
class ClusterReader:
    """Observes Clusters; what it remembers of each is only hints."""

    options: Options
    resolver: Resolver
    providers: Providers
    calls: LongCalls[None]
    memories: KeyedState[ClusterMemory] = field(default_factory=lambda: KeyedState(ClusterMemory))

    async def observe(self, ctx: Context[Cluster]) -> tuple[Observed, Provider | None]:
        """Everything about a Cluster, and the provider to speak to, if there is one."""
        observed = await self._cached(ctx)
        resolved = await self.resolver.of_cluster(ctx.client, ctx.obj)
        provider: Provider | None = None
        match resolved:
            case Unresolved():
                observed = replace(observed, unresolved=resolved)
            case (Binding() as binding, ProviderSession() as session):
                observed, provider = replace(observed, binding=binding), self.providers(session)
        observed = await self._held(ctx, observed)
        if provider is None:
            return observed, None
        if question(observed) is ProviderQuestion.FIND:
            observed = replace(observed, claimed=await claimed_ids(ctx, observed))
        answered = await ask(observed, provider)
        if answered.infrastructures:
            answered = await self._held(ctx, answered)
        return answered, provider

    async def _held(self, ctx: Context[Cluster], observed: Observed) -> Observed:
        """The same, with who has the infrastructures that it names."""
        client, mine = ctx.client, ctx.obj.metadata.uid
        address = address_of(observed)
        claims = await client.list(InfrastructureClaim, index=(HOLDER_INDEX, mine))
        held = {each.spec.infrastructure_id for each in claims if address in addresses(each)}
        holdings = {}
        for id in named_ids(observed):
            for each in await client.list(InfrastructureClaim, index=(CLAIMED_INDEX, id)):
                if address in addresses(each):
                    holdings[id] = await holding_of(client, each, mine)
        mine_too = {id: Holding(str(ctx.obj.key), mine, True) for id in held}
        return replace(observed, holdings={**holdings, **mine_too}, held=tuple(sorted(held)))

    async def _cached(self, ctx: Context[Cluster]) -> Observed:
        cluster, client, request = ctx.obj, ctx.client, ctx.request
        memory = self.memories[request]
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
        """The kubeconfig of a cluster that the user made."""
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
        clusters = await ctx.client.list(Cluster, index=(ID_INDEX, wanted))
        mine = ctx.obj.metadata.uid
        return tuple(sorted(str(each.key) for each in clusters if each.metadata.uid != mine))


async def ask(observed: Observed, provider: Provider) -> Observed:
    """The same, with the provider's answer to the question that is open."""
    try:
        match question(observed):
            case ProviderQuestion.STATE:
                answered = await _state(observed, provider, target_of(observed))
                return await _followed(answered, provider)
            case ProviderQuestion.FIND:
                hits = await provider.find(sought_marks(observed), observed.claimed)
                return replace(observed, infrastructures=hits)
            case ProviderQuestion.OUTPUTS:
                return replace(observed, outputs=await provider.outputs(observed.status.cluster_id))
            case ProviderQuestion.MARKS:
                return replace(observed, marks=await provider.marks(target_of(observed)))
            case ProviderQuestion.ADOPT:
                return await _adoptable(observed, provider)
    except ProviderError as error:
        return _unanswered(observed, error.failure)
    return observed


async def _state(observed: Observed, provider: Provider, id: str) -> Observed:
    state = await provider.state(id)
    known = observed.status.infrastructure
    observed = replace(observed, state=state)
    if id != observed.status.cluster_id:
        return observed
    if state.settled in _BAD and (known is None or known.state != state.settled.value):
        observed = replace(observed, log=await _log(provider, id))
    listed = {each.id for each in known.vms if each.addresses} if known is not None else set()
    new = [
        each for each, word in state.machines.items() if each not in listed and word != "pending"
    ]
    if new and not observed.cluster.deleting:
        observed = replace(observed, details=await _details(provider, id, new))
    return observed


async def _followed(observed: Observed, provider: Provider) -> Observed:
    """The same, with the outputs of what turns out to be done."""
    if follow_up(observed) is not ProviderQuestion.OUTPUTS:
        return observed
    try:
        return replace(observed, outputs=await provider.outputs(observed.status.cluster_id))
    except ProviderError as error:
        return replace(observed, outputs=error.failure)


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


async def _adoptable(observed: Observed, provider: Provider) -> Observed:
    id = wished_id(observed)
    state = await provider.state(id)
    return replace(observed, state=state, adopted=await provider.template(id))


def _unanswered(observed: Observed, failure: Failure) -> Observed:
    match question(observed):
        case ProviderQuestion.FIND:
            return replace(observed, infrastructures=failure)
        case ProviderQuestion.OUTPUTS:
            return replace(observed, outputs=failure)
        case ProviderQuestion.MARKS:
            return replace(observed, marks=failure, state=failure)
    return replace(observed, state=failure)


def _ended(error: Exception | None) -> Ended:
    """How a long call ended, as decisions see it; HeldCall if a preview did not make it."""
    if error is None:
        return Ended()
    if isinstance(error, ProviderError):
        return Ended(failure=error.failure)
    if isinstance(error, HeldCall):
        raise error
    message = "the call failed inside this program"
    return Ended(failure=Failure(ErrorClass.INTERNAL, "InternalError", message, applied=None))
