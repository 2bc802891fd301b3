"""conversionInformer: ReplicationControllers, seen as the ReplicaSets that they resemble.

They select by labels alone, and know nothing of pods that are on their way out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from msgspec import field

from quintant.api.apps import NO_TEMPLATE, ReplicaSet, ReplicaSetStatus
from quintant.api.meta import LabelSelector
from quintant.core.object import Model, Object, Opaque
from quintant.core.resource import resource


class ReplicationControllerSpec(Model):
    """How many pods of one template."""

    labels: Mapping[str, str] = field(default_factory=dict, name="selector")
    template: Opaque = NO_TEMPLATE
    replicas: int | None = None
    min_ready_seconds: int = 0

    @property
    def selector(self) -> LabelSelector:
        """What its pods have in common."""
        return LabelSelector(match_labels=self.labels)


@resource(group="", version="v1", plural="replicationcontrollers", status=True)
class ReplicationController(Object):
    """A number of equal pods."""

    spec: ReplicationControllerSpec = ReplicationControllerSpec()
    status: ReplicaSetStatus = ReplicaSetStatus()


R = TypeVar("R", ReplicaSet, ReplicationController)
"""What keeps a number of equal pods."""
