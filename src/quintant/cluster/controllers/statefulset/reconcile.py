"""syncStatefulSet: claims pods, records the revision, acts on the plan, reports."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from msgspec import Struct

from quintant.api.apps import ControllerRevision, StatefulSet
from quintant.api.core import PersistentVolumeClaim
from quintant.cluster.controllers.history import (
    HASH,
    STATEFUL_HASH,
    Recorded,
    record,
    revisions_to_delete,
    template_of,
)
from quintant.cluster.controllers.pods.views import PodState, next_available
from quintant.cluster.controllers.ref_manager import claim_children
from quintant.cluster.controllers.slow_start import Work, run_all
from quintant.cluster.controllers.statefulset.identity import claims, labels, pod_of, pod_ordinal
from quintant.cluster.controllers.statefulset.members import Members, plan, revision_of
from quintant.cluster.controllers.statefulset.pod_control import StatefulPodControl
from quintant.cluster.controllers.statefulset.retention import with_retention_owner
from quintant.cluster.controllers.statefulset.status import report
from quintant.core.errors import ApiError
from quintant.core.object import replace
from quintant.runtime.reconcile.context import Context
from quintant.runtime.reconcile.result import Result

RETRY_SECONDS = 5.0
"""Before a pod that was refused is tried again, or one whose claim is going."""


async def reconcile(sets: StatefulSet, ctx: Context[StatefulSet]) -> Result | None:
    """Bring a set one step further, and tell how it is."""
    history = await claim_children(ctx.client, sets, sets.spec.selector, ControllerRevision)
    members = Members.of(sets, await _pods(sets, ctx))
    recorded = await record(
        ctx, sets.spec.template, history, sets.status.collision_count or 0, STATEFUL_HASH
    )
    turn = StatefulSetSync(ctx, recorded, _current(sets, history, recorded.revision))
    await turn.keep(members)
    refusal = await turn.act(members)
    return await turn.tell([*history, recorded.revision], refusal)


class StatefulSetSync(Struct, frozen=True):
    """One turn: the revisions that count, and what is done."""

    ctx: Context[StatefulSet]
    update: Recorded
    current: ControllerRevision

    async def keep(self, members: Members) -> None:
        """Say of every claim whether it goes with its pod, or with the set."""
        sets, client = self.ctx.obj, self.ctx.client
        for number, pod in members.pods if sets.spec.volume_claim_templates else ():
            for claim in claims(sets, number).values():
                found = await client.find(PersistentVolumeClaim, *claim.key)
                if (
                    found is not None
                    and (new := with_retention_owner(found, sets, number, pod)) != found
                ):
                    await client.patch(new, since=found)

    async def act(self, members: Members) -> ApiError | None:
        """Do what is next; what could not be done, if anything."""
        sets, next_ = self.ctx.obj, plan(members, self._name, self.ctx.clock.now())
        for number, pod in next_.label:
            meta = replace(pod.metadata, labels={**pod.metadata.labels, **labels(sets, number)})
            await self.ctx.client.patch(replace(pod, metadata=meta), since=pod)
        control = StatefulPodControl(self.ctx)
        works: list[Work] = [partial(control.claims, number) for number in next_.claim]
        works += [partial(self._create, control, number) for number in next_.create]
        works += [partial(control.delete, pod) for pod in next_.delete]
        return await run_all(works)

    async def tell(
        self, history: Sequence[ControllerRevision], refusal: ApiError | None
    ) -> Result | None:
        """Report, and forget the revisions that nobody needs."""
        sets, now = self.ctx.obj, self.ctx.clock.now()
        pods = await self.ctx.owned(PodState)
        names = (self.current.metadata.name, self._name)
        status = report(sets, pods, names, self.update.collisions or 0, now)
        await self.ctx.client.set_status(sets, status)
        alive = {*names, *(pod.metadata.labels.get(HASH, "") for pod in pods)}
        for revision in revisions_to_delete(history, alive, sets.spec.revision_history_limit):
            await self.ctx.client.delete(revision)
        if refusal is not None:
            return Result(after=RETRY_SECONDS)
        return Result(after=next_available(pods, sets.spec.min_ready_seconds, now))

    async def _create(self, control: StatefulPodControl, number: int) -> ApiError | None:
        chosen = revision_of(self.ctx.obj, number, self.current.metadata.name, self._name)
        old = chosen == self.current.metadata.name
        template = template_of(self.current if old else self.update.revision)
        return await control.create(pod_of(self.ctx.obj, template, chosen, number), number)

    @property
    def _name(self) -> str:
        return self.update.revision.metadata.name


async def _pods(sets: StatefulSet, ctx: Context[StatefulSet]) -> list[PodState]:
    """The pods of a set: those that are named after it."""

    def member(pod: PodState) -> bool:
        return pod_ordinal(sets.metadata.name, pod.metadata.name) is not None

    return await claim_children(ctx.client, sets, sets.spec.selector, PodState, member)


def _current(
    sets: StatefulSet, history: Sequence[ControllerRevision], first: ControllerRevision
) -> ControllerRevision:
    """The revision that pods below the partition have; in the beginning, the one there is."""
    name = sets.status.current_revision
    return next((each for each in history if each.metadata.name == name), first)
