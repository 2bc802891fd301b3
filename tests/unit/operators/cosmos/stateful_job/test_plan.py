"""A job runs on a volume from the newest copy, on time, and its volume goes with it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from quintant.api.batch import Job, JobCondition, JobStatus
from quintant.api.quantity import Quantity
from quintant.api.snapshot import VolumeSnapshot, VolumeSnapshotStatus
from quintant.api.volume import PersistentVolumeClaim
from quintant.core.clock import timestamp
from quintant.core.object import ObjectMeta, Opaque
from quintant.operators.cosmos.api.stateful_job import (
    StatefulJob,
    StatefulJobClaim,
    StatefulJobSpec,
    StatefulJobStatus,
)
from quintant.operators.cosmos.stateful_job.observed import JobView
from quintant.operators.cosmos.stateful_job.plan import JobStep, conclude, parse_interval, plan
from quintant.runtime.reconcile.result import Result
from unit.operators.cosmos.observations import NOW

HOUR = timedelta(hours=1)


def ago(span: timedelta) -> str:
    return timestamp(NOW - span)


def owner(interval: str | None = None, **status: Any) -> StatefulJob:
    template = {"spec": {"containers": [{"name": "list", "image": "busybox"}]}}
    return StatefulJob(
        metadata=ObjectMeta(name="list", namespace="test", uid="u"),
        spec=StatefulJobSpec(
            selector={"a": "b"},
            interval=interval,
            pod_template=Opaque.of(template),
            volume_claim_template=StatefulJobClaim(storage_class_name="standard"),
        ),
        status=StatefulJobStatus(**status),
    )


COPY = VolumeSnapshot(
    metadata=ObjectMeta(name="copy", labels={"a": "b"}),
    status=VolumeSnapshotStatus(ready_to_use=True, restore_size=Quantity("7Gi"), creation_time="1"),
)


def stepped(it: StatefulJob, **given: Any) -> JobStep:
    return plan(JobView(it, **{"served": True, "snapshots": (COPY,), "now": NOW, **given}))


def test_a_due_job_gets_a_volume_from_the_newest_copy() -> None:
    done = stepped(owner())
    assert done.claim is not None
    assert done.job is not None
    assert done.claim.spec.data_source is not None
    assert done.claim.spec.data_source.name == "copy"
    assert done.claim.spec.resources.requests["storage"] == "7Gi"
    assert done.claim.spec.access_modes == ("ReadWriteOnce",)
    spec = done.job.spec
    assert (spec.ttl_seconds_after_finished, spec.backoff_limit) == (900, 5)
    assert spec.active_deadline_seconds == 86400
    pod = spec.template.value["spec"]
    assert pod["restartPolicy"] == "Never"
    assert pod["volumes"][-1] == {
        "name": "snapshot",
        "persistentVolumeClaim": {"claimName": "list"},
    }
    for made in (done.claim, done.job):
        assert made.metadata.owner_references[0].uid == "u"
    assert done.status.last_started == timestamp(NOW)


def test_the_next_job_is_due_an_interval_after_the_last_began() -> None:
    assert stepped(owner("2h", last_started=ago(HOUR))).job is None
    assert stepped(owner("1h", last_started=ago(HOUR))).job is not None
    assert stepped(owner(None, last_started=ago(23 * HOUR))).job is None
    assert stepped(owner("2h", last_started=ago(2 * HOUR - timedelta(seconds=9)))).after == 9


def test_without_a_copy_nothing_is_made_and_it_is_told() -> None:
    done = stepped(owner(), snapshots=())
    assert (done.claim, done.job, done.problem[0]) == (None, None, "NoSnapshot")
    assert stepped(owner(), served=False).problem[0] == "MissingCRDs"


@pytest.mark.parametrize("text", ["soon", "5", "1h x", "", "9000h", "9" * 60 + "h"])
def test_an_interval_that_is_none_is_told(text: str) -> None:
    assert stepped(owner(text)).problem[0] == "IntervalInvalid"


def test_a_number_beyond_its_limit_makes_nothing() -> None:
    done = stepped(owner("9" * 400 + "h"))
    assert (done.problem[0], done.claim, done.job) == ("SpecInvalid", None, None)


def test_an_interval_is_as_go_writes_it() -> None:
    assert parse_interval("1h30m") == timedelta(minutes=90)
    assert parse_interval("500ms") == timedelta(milliseconds=500)
    assert parse_interval(None) == timedelta(days=1)


def job(**status: Any) -> Job:
    meta = ObjectMeta(name="list", creation_timestamp=ago(HOUR))
    return Job(metadata=meta, status=JobStatus(**status))


def test_what_becomes_of_a_job_is_the_newest_of_its_history() -> None:
    before = JobStatus(succeeded=1)
    done = stepped(owner(job_history=(JobStatus(), before)), job=job(active=1))
    assert done.status.job_history == (JobStatus(active=1), before)
    assert done.status.last_started == ago(HOUR)
    failed = (JobCondition(type="Failed", status="True", message="exit 1"),)
    bad = stepped(owner(), job=job(conditions=failed))
    assert bad.problem[0] == "JobFailed"
    assert "exit 1" in bad.problem[1]


def test_five_runs_are_remembered() -> None:
    done = stepped(owner(job_history=tuple(JobStatus(succeeded=n) for n in range(1, 6))))
    assert [each.succeeded for each in done.status.job_history] == [0, 1, 2, 3, 4]


def claim(made: str, **meta: Any) -> PersistentVolumeClaim:
    return PersistentVolumeClaim(metadata=ObjectMeta(name="list", creation_timestamp=made, **meta))


def test_the_volume_of_a_job_that_is_gone_is_removed_once() -> None:
    it = owner("2h", last_started=ago(HOUR))
    old = claim(ago(HOUR))
    assert stepped(it, claim=old).remove == old
    going = claim(ago(HOUR), deletion_timestamp=timestamp(NOW))
    assert stepped(it, claim=going).remove is None


def test_a_volume_that_was_made_before_a_crash_is_used() -> None:
    it = owner("1h", last_started=ago(2 * HOUR))
    done = stepped(it, claim=claim(ago(timedelta(seconds=1))))
    assert (done.remove, done.claim) == (None, None)
    assert done.job is not None


def test_a_name_that_is_somebody_elses_is_refused() -> None:
    assert stepped(owner(), taken="Job list").problem[0] == "NameTaken"


def test_a_step_is_made_in_order_and_concluded() -> None:
    it = JobView(owner(), served=True, snapshots=(COPY,), now=NOW)
    done = plan(it)
    assert done.create == (done.claim, done.job)
    conclusion = conclude(it, done, "")
    assert conclusion.status is not None
    assert conclusion.status.last_started == timestamp(NOW)
    assert (conclusion.again, conclusion.events) == (None, ())


def test_a_refusal_is_reported_and_nothing_counts_as_begun() -> None:
    it = JobView(owner(), served=True, snapshots=(COPY,), now=NOW)
    conclusion = conclude(it, plan(it), "exceeded quota")
    assert conclusion.status is not None
    assert (conclusion.status.last_started, conclusion.status.status) == (None, "exceeded quota")
    assert [each.reason for each in conclusion.events] == ["Error"]
    assert conclusion.again == Result(after=60.0)


@pytest.mark.parametrize(
    ("age", "status", "reason"),
    [(10, {}, ""), (90, {}, "JobWithoutPod"), (90, {"active": 1}, ""), (90, {"failed": 1}, "")],
)
def test_a_job_that_gets_no_pod_is_told(age: int, status: dict[str, Any], reason: str) -> None:
    made = ago(timedelta(seconds=age))
    job = Job(metadata=ObjectMeta(name="list", creation_timestamp=made), status=JobStatus(**status))
    assert stepped(owner(last_started=made), job=job).problem[0] == reason
