"""Every pod that ends is counted once, whatever happens between two writes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quintant.api.batch import Job, JobSpec, JobStatus, UncountedTerminatedPods
from quintant.cluster.controllers.job.counting import count_pods, record_finished_pods
from quintant.cluster.controllers.job.traits import TRACKING
from quintant.cluster.controllers.pods.views import PodState, PodStateStatus
from quintant.core.object import ObjectMeta, replace

PHASES = st.lists(st.sampled_from(["Succeeded", "Failed", "Running"]), max_size=8)


def pod(uid: str, phase: str, *, held: bool = True) -> PodState:
    meta = ObjectMeta(name=uid, uid=uid, finalizers=(TRACKING,) if held else ())
    return PodState(metadata=meta, status=PodStateStatus(phase=phase))


def freed(pod: PodState) -> PodState:
    return replace(pod, metadata=replace(pod.metadata, finalizers=()))


@given(PHASES, st.lists(st.tuples(st.integers(0, 7), st.booleans()), max_size=20))
def test_crashes_between_two_writes_lose_and_repeat_nothing(
    phases: list[str], steps: list[tuple[int, bool]]
) -> None:
    pods = {str(n): pod(str(n), phase) for n, phase in enumerate(phases)}
    job = Job(spec=JobSpec(completions=8))
    for upto, written in [*steps, (8, True), (8, True)]:
        entry = record_finished_pods(job, list(pods.values()))
        if not written:
            continue  # the status was not stored: neither may a finalizer go
        job = replace(job, status=entry.status)
        for each in entry.release[:upto]:
            pods[each.metadata.uid] = freed(each)
        sum_ = count_pods(job, pods.values())
        assert sum_.succeeded == phases.count("Succeeded")
        assert sum_.failed == phases.count("Failed")
    assert job.status.succeeded == phases.count("Succeeded")
    assert job.status.failed == phases.count("Failed")
    assert job.status.uncounted_terminated_pods == UncountedTerminatedPods()
    assert [uid for uid, each in pods.items() if each.metadata.finalizers] == [
        str(n) for n, phase in enumerate(phases) if phase == "Running"
    ]


def test_pods_that_run_when_a_job_fails_count_as_failed() -> None:
    entry = record_finished_pods(Job(), [pod("a", "Running")], ending=True, failing=True)
    assert entry.status.uncounted_terminated_pods == UncountedTerminatedPods(failed=("a",))
    entry = record_finished_pods(Job(), [pod("a", "Running")], ending=True)
    assert entry.status.uncounted_terminated_pods == UncountedTerminatedPods()
    assert [each.metadata.uid for each in entry.release] == ["a"]


def test_pod_that_vanished_after_it_was_noted_is_counted() -> None:
    noted = UncountedTerminatedPods(succeeded=("a",), failed=("b",))
    job = Job(status=JobStatus(succeeded=1, uncounted_terminated_pods=noted))
    entry = record_finished_pods(job, [])
    assert (entry.status.succeeded, entry.status.failed) == (2, 1)


def test_pods_that_the_job_stops_itself_have_not_failed() -> None:
    going = pod("a", "Running")
    going = replace(going, metadata=replace(going.metadata, deletion_timestamp="now"))
    assert record_finished_pods(
        Job(), [going]
    ).status.uncounted_terminated_pods == UncountedTerminatedPods(failed=("a",))
    entry = record_finished_pods(Job(), [going], ending=True, stopped=[going])
    assert entry.status.uncounted_terminated_pods == UncountedTerminatedPods()
    assert [each.metadata.uid for each in entry.release] == ["a"]
