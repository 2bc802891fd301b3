"""PodDisruptionBudgets: how many pods may be down on purpose."""

from __future__ import annotations

from collections.abc import Mapping

from quintant.api.meta import Condition, LabelSelector
from quintant.api.quantity import IntOrString
from quintant.core.object import Model, Object
from quintant.core.resource import resource


class PodDisruptionBudgetSpec(Model):
    """Which pods, and how many of them must stay; one of the two limits is set."""

    selector: LabelSelector | None = None
    min_available: IntOrString | None = None
    max_unavailable: IntOrString | None = None
    unhealthy_pod_eviction_policy: str | None = None


class PodDisruptionBudgetStatus(Model):
    """How many more may go now."""

    observed_generation: int = 0
    disruptions_allowed: int = 0
    current_healthy: int = 0
    desired_healthy: int = 0
    expected_pods: int = 0
    disrupted_pods: Mapping[str, str] = {}
    conditions: tuple[Condition, ...] = ()


@resource(group="policy", version="v1", status=True)
class PodDisruptionBudget(Object):
    """A limit on evictions of a set of pods."""

    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()
