"""Carries out what was decided: the record first, then one call, then what follows from it.

    PassDecision ──record──> status ──call──> provider ──Answer──> conclude ──> write

A record that cannot be written, because another process wrote first or the Cluster is going, ends
the pass: the next one observes again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from quintant.core.errors import NotLeader
from quintant.operators.infra.act.claims import note_id, release_all, release_claims, win_claim
from quintant.operators.infra.act.secrets import apply_own_secret, save_kubeconfig
from quintant.operators.infra.act.status import record_status, write_status
from quintant.operators.infra.api import Cluster
from quintant.operators.infra.metrics import InfraMetrics
from quintant.operators.infra.observed.answers import ErrorClass, Failure, ProviderError
from quintant.operators.infra.observed.cluster import Answer, BegunCall, Observed
from quintant.operators.infra.observed.marks import InfrastructureMarks, marks_of
from quintant.operators.infra.plan.decision import (
    Action,
    PassDecision,
    ProviderCall,
    ProviderMethod,
    provider_call,
)
from quintant.operators.infra.plan.kept_template import template_secret, with_template_ref
from quintant.operators.infra.plan.ownership import note_wanted, released_ids
from quintant.operators.infra.remote import Provider
from quintant.runtime.reconcile.context import Context
from quintant.runtime.source.long_calls import LongCalls

_COUNTED = (ProviderMethod.RECONFIGURE, ProviderMethod.REPLACE)
"""Calls that are to set something right."""


@dataclass(frozen=True, slots=True)
class Performer:
    """Carries out decisions about Clusters."""

    calls: LongCalls[None]
    metrics: InfraMetrics
    _serials: Iterator[int] = field(default_factory=lambda: count(1), repr=False)

    async def record(
        self, ctx: Context[Cluster], observed: Observed, decision: PassDecision
    ) -> Observed:
        """Write what has to be on record before the call; the same, with that record."""
        act = decision.act
        if act is None:
            return observed
        if act.record is not None:
            recorded = await record_status(ctx, observed.cluster, act.record)
            observed = replace(observed, cluster=recorded)
        ctx.tell(*decision.events)
        return observed

    async def call(
        self,
        ctx: Context[Cluster],
        observed: Observed,
        decision: PassDecision,
        provider: Provider | None,
    ) -> Answer:
        """Make the one call of a pass; a long one is only begun."""
        act = decision.act
        if act is None or provider is None:
            return None
        if act.action is Action.SAVE:
            return await save_kubeconfig(ctx, observed.cluster, act.kubeconfig, new=act.new)
        call = provider_call(observed, act)
        if call.id is not None:
            return self._begin(ctx, call, provider)
        if call.method in _COUNTED:
            self.metrics.reconfigurations.inc()
        ctx.client.fence()
        try:
            return await call_provider(provider, call)
        except ProviderError as error:
            return error.failure

    async def write(
        self, ctx: Context[Cluster], observed: Observed, decision: PassDecision
    ) -> PassDecision:
        """Write what the pass ends with, tell of it, and count what it ends."""
        if decision.claims_id:
            await win_claim(ctx, observed, decision.claims_id)
        if (noted := note_wanted(observed, decision)) is not None:
            await note_id(ctx, observed.cluster, noted)
        # Before the status: what is claimed and not on record would be taken for lost.
        await release_claims(ctx, observed, released_ids(observed, decision))
        if decision.finished:
            await release_all(ctx, observed.cluster)
        cluster, secret = observed.cluster, template_secret(observed.cluster, decision.change)
        saved = secret is not None and await apply_own_secret(ctx, cluster, secret)
        change = with_template_ref(decision.change, secret, saved=saved)
        known = await write_status(ctx, cluster, change)
        if decision.last_event is not None:
            await ctx.confirm_event(decision.last_event)
        ctx.tell(*decision.events)
        if (operation := decision.ended(observed.status.operation)) is not None:
            self.metrics.ended(operation, observed.now)
        if decision.adopts:
            self.metrics.adoptions.inc()
        return decision if known else replace(decision, after=None)

    def _begin(self, ctx: Context[Cluster], call: ProviderCall, provider: Provider) -> BegunCall:
        if self.calls.is_under_way(ctx.request):
            return BegunCall()
        serial = next(self._serials)
        work = fenced_work(ctx.client.fence, provider, call)
        self.calls.begin(ctx.request, (call.id, serial), work)
        return BegunCall(call.id, serial)


def fenced_work(
    fence: Callable[[], None], provider: Provider, call: ProviderCall
) -> Callable[[], Awaitable[None]]:
    """A long call, which is not sent if another process has the Cluster when its turn comes."""

    async def work() -> None:
        # It may have waited for a place until the Cluster is another process's.
        try:
            fence()
        except NotLeader as error:
            failure = Failure(ErrorClass.TRANSIENT, "NotSent", str(error), applied=False)
            raise ProviderError(failure) from None
        await call_provider(provider, call)

    return work


async def _created(provider: Provider, template: Mapping[str, Any]) -> str:
    """The id of what was created; ProviderError if what the answer names was not made of this.

    Then it is not known what was made, and it is looked for by its mark.
    """
    id = await provider.create(template)
    marks = InfrastructureMarks()
    try:
        marks = await provider.marks(id)
    except ProviderError as error:
        if error.failure.kind is not ErrorClass.NOT_FOUND:
            raise ProviderError(replace(error.failure, applied=None)) from None
    if marks.match(InfrastructureMarks(token=marks_of(template).token)):
        return id
    message = f"the answer names infrastructure {id}, which carries no mark of the request"
    raise ProviderError(Failure(ErrorClass.TRANSIENT, "AnswerUnusable", message, applied=None))


async def call_provider(provider: Provider, call: ProviderCall) -> str | None:
    """Make a call; the id of what it created, if it does so. ProviderError if it fails."""
    id = call.infrastructure
    match call.method:
        case ProviderMethod.CREATE:
            return await _created(provider, call.template)
        case ProviderMethod.PLAN:
            await provider.plan(call.template)
        case ProviderMethod.UPDATE:
            await provider.update(id, call.template, call.seconds)
        case ProviderMethod.RECONFIGURE:
            await provider.reconfigure(id)
        case ProviderMethod.REPLACE:
            await provider.replace(id, call.machines)
        case ProviderMethod.DELETE:
            await provider.delete(id, force=call.force)
        case ProviderMethod.DELETE_NOW:
            await provider.delete_now(id, call.seconds, force=call.force)
    return None
