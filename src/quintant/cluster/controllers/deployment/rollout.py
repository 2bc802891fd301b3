"""FindNewReplicaSet, FindOldReplicaSets: the sets of a Deployment, and its bounds."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from quintant.api.apps import Deployment, DeploymentStatus, ReplicaSet, RollingUpdateDeployment
from quintant.cluster.controllers.int_or_percent import scaled_value
from quintant.cluster.controllers.pods.templates import canonical_template
from quintant.core.object import replace as changed

RECREATE = "Recreate"
UNLIMITED = 2**31 - 1
"""What the API takes for no limit at all."""


class Rollout(Struct, frozen=True):
    """What a Deployment has come to."""

    deployment: Deployment
    new: ReplicaSet | None
    """The set with the Deployment's own template."""
    old: tuple[ReplicaSet, ...]
    """All others, the oldest first."""

    @staticmethod
    def of(deployment: Deployment, sets: Sequence[ReplicaSet]) -> Rollout:
        """Tell the sets of a Deployment apart; of several new ones the oldest is taken."""
        wanted, ordered = canonical_template(deployment.spec.template), sorted(sets, key=age)
        new = next(
            (each for each in ordered if canonical_template(each.spec.template) == wanted), None
        )
        return Rollout(deployment, new, tuple(each for each in ordered if each is not new))

    def with_new_set(self, new: ReplicaSet) -> Rollout:
        """The same with another new set, or with that set as it is now."""
        return replace(self, new=new)

    def with_status(self, status: DeploymentStatus) -> Rollout:
        """The same with another status of the Deployment."""
        return replace(self, deployment=changed(self.deployment, status=status))

    @property
    def sets(self) -> tuple[ReplicaSet, ...]:
        """All of them, the new one last."""
        return (*self.old, self.new) if self.new is not None else self.old

    @property
    def desired(self) -> int:
        return self.deployment.spec.replicas or 0

    @property
    def recreates(self) -> bool:
        return self.deployment.spec.strategy.type == RECREATE

    @property
    def surge(self) -> int:
        """How many pods there may be beyond those desired."""
        return 0 if self.recreates else scaled_value(self._limits.max_surge, self.desired, up=True)

    @property
    def unavailable(self) -> int:
        """How many of the pods desired may be missing."""
        if self.recreates or not self.desired:
            return 0
        missing = scaled_value(self._limits.max_unavailable, self.desired, up=False)
        # Rounded, both may be nothing, and then nothing could ever move.
        return min(missing or (0 if self.surge else 1), self.desired)

    @property
    def limit(self) -> int:
        """How many pods there may be at most."""
        return self.desired + self.surge

    @property
    def total(self) -> int:
        """How many pods the sets ask for."""
        return sum(map(size, self.sets))

    @property
    def deadline(self) -> int | None:
        """Seconds without progress after which a rollout counts as failed; None for ever."""
        seconds = self.deployment.spec.progress_deadline_seconds
        return None if seconds == UNLIMITED else seconds

    def complete(self, status: DeploymentStatus) -> bool:
        """Whether all pods desired are of the new set and available, and no other is left."""
        counts = (status.updated_replicas, status.replicas, status.available_replicas)
        seen = status.observed_generation >= self.deployment.metadata.generation
        return seen and counts == (self.desired,) * 3

    @property
    def _limits(self) -> RollingUpdateDeployment:
        return self.deployment.spec.strategy.rolling_update or RollingUpdateDeployment()


def size(replicas: ReplicaSet) -> int:
    """How many pods a set asks for."""
    return replicas.spec.replicas or 0


def age(replicas: ReplicaSet) -> tuple[str, str]:
    """Orders sets, the oldest first."""
    return replicas.metadata.creation_timestamp or "", replicas.metadata.name
