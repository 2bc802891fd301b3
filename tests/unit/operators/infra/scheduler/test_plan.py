"""Which cloud a Cluster goes to, and when the user is warned that none fits."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from quintant.api.meta import set_conditions
from quintant.core import codec
from quintant.core.object import replace
from quintant.operators.infra.api import Cloud, Cluster, ClusterStatus
from quintant.operators.infra.scheduler.observed import Candidates
from quintant.operators.infra.scheduler.plan import (
    AGAIN_SECONDS,
    PATIENCE_SECONDS,
    SchedulePlan,
    plan,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
NONE = Candidates((), (), {})


def cluster(**spec: Any) -> Cluster:
    body = {"metadata": {"name": "one", "namespace": "default", "generation": 3}, "spec": spec}
    return codec.decode(Cluster, codec.encode(body))


def cloud(name: str, ready: str = "True") -> Cloud:
    body = {
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"type": "dummy", "providerRef": {"name": "im"}},
        "status": {"conditions": [{"type": "Ready", "status": ready, "reason": "Test"}]},
    }
    return codec.decode(Cloud, codec.encode(body))


def after(planned: SchedulePlan) -> float | None:
    again = planned.conclusion.again
    return again.seconds if again is not None else None


def waiting(seconds: float) -> Cluster:
    """A Cluster that has been without a cloud for so long."""
    claims = plan(cluster(), NONE, NOW, warned=False).change.claims
    since = NOW - timedelta(seconds=seconds)
    conditions = set_conditions((), claims, generation=3, now=since)
    return replace(cluster(), status=ClusterStatus(conditions=conditions))


def test_cluster_goes_to_the_cloud_with_the_fewest_and_waits_for_nothing_more() -> None:
    clouds = Candidates((cloud("full"), cloud("empty")), (), {"Cloud/default/full": 2})
    planned = plan(cluster(), clouds, NOW, warned=False)
    assert planned.change.fields["scheduled_to"].name == "empty"
    assert planned.change.fields["observed_generation"] == 3
    assert after(planned) is None
    assert planned.conclusion.events == ()


def test_cluster_without_a_cloud_has_patience_before_the_user_is_warned() -> None:
    planned = plan(waiting(10.0), NONE, NOW, warned=False)
    assert after(planned) == PATIENCE_SECONDS - 10.0
    assert planned.conclusion.events == ()
    assert not planned.warned


def test_user_is_warned_once_that_no_cloud_fits() -> None:
    clouds = Candidates((cloud("sick", "False"),), (), {})
    planned = plan(waiting(PATIENCE_SECONDS), clouds, NOW, warned=False)
    [event] = planned.conclusion.events
    assert (event.type, event.reason) == ("Warning", "NoMatchingCloud")
    assert "sick is not ready" in event.note
    assert planned.warned
    assert after(planned) == AGAIN_SECONDS
    again = plan(waiting(PATIENCE_SECONDS), clouds, NOW, warned=True)
    assert again.conclusion.events == ()
    assert again.warned


def test_constraint_that_makes_no_sense_is_no_lack_of_clouds() -> None:
    constraints = {"cloud": {"labels": ["what?"]}}
    planned = plan(cluster(constraints=constraints), NONE, NOW, warned=False)
    assert planned.change.claims[0].reason == "InvalidConstraint"
    assert planned.conclusion.events == ()
    assert after(planned) == AGAIN_SECONDS
