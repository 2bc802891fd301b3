"""StatefulPodControl: pods of a StatefulSet, their claims first, with events."""

from __future__ import annotations

from msgspec import Struct

from quintant.api.apps import StatefulSet
from quintant.api.core import PersistentVolumeClaim
from quintant.cluster.controllers.pods.templates import NewPod
from quintant.cluster.controllers.pods.views import PodState
from quintant.cluster.controllers.statefulset.identity import NewClaim, claims
from quintant.cluster.controllers.statefulset.retention import goes_with_pods, stale
from quintant.core.errors import ApiError, Conflict, Status
from quintant.runtime.reconcile.context import Context


class StatefulPodControl(Struct, frozen=True):
    """Makes and deletes for one set. Every method tells what kept it from doing so."""

    ctx: Context[StatefulSet]

    async def create(self, pod: NewPod, number: int) -> ApiError | None:
        """Make a pod, once its claims are there; not while one of them goes with a namesake."""
        refusal = await self._stale(pod, number) or await self.claims(number)
        if refusal is not None:
            return refusal
        try:
            await self.ctx.client.create(pod)
        except ApiError as error:
            return self._failed("Create", f"Pod {pod.metadata.name}", error)
        self._succeeded("Create", f"Pod {pod.metadata.name}")
        return None

    async def delete(self, pod: PodState) -> ApiError | None:
        """Delete a pod."""
        try:
            await self.ctx.client.delete(pod)
        except ApiError as error:
            return self._failed("Delete", f"Pod {pod.metadata.name}", error)
        self._succeeded("Delete", f"Pod {pod.metadata.name}")
        return None

    async def claims(self, number: int) -> ApiError | None:
        """Make the claims of a pod that are missing."""
        wanted = claims(self.ctx.obj, number).values()
        refusals = [await self._claim(claim, number) for claim in wanted]
        return next(filter(None, refusals), None)

    async def _claim(self, claim: NewClaim, number: int) -> ApiError | None:
        found = await self.ctx.client.find(PersistentVolumeClaim, *claim.key)
        if found is not None:
            return _going(claim) if found.deleting else None
        pod = f"Pod {self.ctx.obj.metadata.name}-{number}"
        try:
            await self.ctx.client.create(claim)
        except ApiError as error:
            return self._failed("Create", f"Claim {claim.metadata.name} for {pod}", error)
        self._succeeded("Create", f"Claim {claim.metadata.name} {pod}", "success")
        return None

    async def _stale(self, pod: NewPod, number: int) -> ApiError | None:
        """A claim that still belongs to a pod of this name that is gone."""
        if goes_with_pods(self.ctx.obj):
            for claim in claims(self.ctx.obj, number).values():
                found = await self.ctx.client.find(PersistentVolumeClaim, *claim.key)
                if found is not None and stale(found, pod):
                    return _going(claim)
        return None

    def _succeeded(self, verb: str, what: str, success: str = "successful") -> None:
        message = f"{verb} {what} in StatefulSet {self.ctx.obj.metadata.name} {success}"
        self.ctx.event(f"Successful{verb}", message, action=f"{verb} {what}")

    def _failed(self, verb: str, what: str, error: ApiError) -> ApiError:
        message = f"{verb} {what} in StatefulSet {self.ctx.obj.metadata.name} failed error: "
        self.ctx.event(f"Failed{verb}", message + error.message, type="Warning")
        return error


def _going(claim: NewClaim) -> ApiError:
    text = f"pvc {claim.metadata.name} is being deleted"
    return Conflict(Status(code=409, reason="Conflict", message=text))
