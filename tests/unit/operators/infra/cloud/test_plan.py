"""Which Secrets a cloud holds and releases, what is on record of it, and when it is looked at."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from quintant.core import codec
from quintant.core.object import replace
from quintant.operators.infra.api import IN_USE, Cloud, CloudStatus
from quintant.operators.infra.cloud.observed import CloudObserved
from quintant.operators.infra.cloud.plan import (
    REST_SECONDS,
    CloudPlan,
    holder,
    left_behind,
    plan,
    record,
    rest,
)
from quintant.operators.infra.plan.decision import SOON

NOW = datetime(2026, 1, 1, tzinfo=UTC)
READY = {"type": "Ready", "status": "True", "lastTransitionTime": "2025-12-31T23:00:00Z"}


def cloud(held: tuple[str, ...] = (), **meta: Any) -> Cloud:
    """A cloud in use that says it is ready, and holds these Secrets."""
    status = {"boundClusters": 1, "heldSecrets": list(held), "conditions": [READY]}
    body = {
        "metadata": {"name": "here", "namespace": "default", "finalizers": [IN_USE], **meta},
        "spec": {"type": "dummy", "providerRef": {"name": "im"}},
        "status": status,
    }
    return codec.decode(Cloud, codec.encode(body))


def decided(observed: CloudObserved, held: tuple[str, ...] = ()) -> CloudPlan:
    """What is planned after the status was recorded."""
    recorded = record(observed, CloudStatus(held_secrets=held))
    return plan(observed, recorded, interval=60.0, jitter=1.0)


def test_what_will_be_held_is_on_record_before_beside_what_is_held() -> None:
    observed = CloudObserved(cloud(), NOW, ("default/one",), needed=("default/new",))
    recorded = record(observed, CloudStatus(held_secrets=("default/old",)))
    assert recorded.held_secrets == ("default/new", "default/old")


def test_what_is_needed_is_held_and_what_is_not_is_released() -> None:
    observed = CloudObserved(cloud(), NOW, ("default/one",), needed=("default/new",))
    planned = decided(observed, ("default/old",))
    assert planned.holds == ("default/new",)
    assert planned.releases == ("default/old",)
    assert planned.status.held_secrets == ("default/new",)


def test_cloud_that_could_go_holds_nothing_yet() -> None:
    free = cloud(finalizers=[])
    planned = decided(CloudObserved(free, NOW, ("default/one",), needed=("default/new",)))
    assert planned.holds == ()
    assert planned.status.held_secrets == ("default/new",)
    again = planned.conclusion.again
    assert again is not None
    assert again.seconds == SOON


def test_cloud_without_clusters_releases_everything() -> None:
    planned = decided(CloudObserved(cloud(), NOW, (), needed=("default/a",)), ("default/a",))
    assert planned.releases == ("default/a",)
    assert planned.status.held_secrets == ()


def test_while_nobody_knows_what_is_needed_it_keeps_what_it_holds() -> None:
    planned = decided(CloudObserved(cloud(), NOW, ("default/one",)), ("default/a",))
    assert planned.releases == ()
    assert planned.status.held_secrets == ("default/a",)


def test_cloud_that_is_going_stays_for_its_clusters_and_no_longer() -> None:
    going = cloud(deletionTimestamp="2026-01-01T00:00:00Z")
    used = decided(CloudObserved(going, NOW, ("default/one",))).conclusion.again
    assert used is not None
    assert used.seconds == 60.0
    assert decided(CloudObserved(going, NOW, ())).conclusion.again is None


def test_cloud_at_rest_is_left_alone_for_a_moment_after_a_look() -> None:
    assert rest(cloud(), 2.0, 1.25) == 0.75
    assert rest(cloud(), 2.0, 3.0) == 0.0
    assert rest(cloud(finalizers=[]), 2.0, 1.0) == 0.0, "it is about to be held"
    assert rest(replace(cloud(), status=None), 2.0, 1.0) == 0.0, "nothing is known of it"


@given(st.floats(0, 1e9), st.floats(0, REST_SECONDS))
def test_no_rounding_is_left_of_a_rest_that_is_over(looked: float, passed: float) -> None:
    due = looked + REST_SECONDS
    now = looked + passed
    now += rest(cloud(), due, now)
    now += rest(cloud(), due, now)
    assert rest(cloud(), due, now) == 0.0


def test_release_without_cleanup_names_the_finalizer_and_the_secrets() -> None:
    assert left_behind(cloud()) == "nothing"
    held = cloud(("default/a",))
    assert left_behind(held) == f"the finalizer {holder(held)} on Secrets default/a"
