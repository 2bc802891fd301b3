"""Jobs on both servers: how they run, fail and end, and what they tell of themselves."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.kubelet import ENDED, FAILED, READY, UNBOUND, Fate
from conformance.workloads import conditions, reasons, told
from conformance.workshop import Workshop
from unit.cluster.api import Plain

BATCH = "batch/v1"
TRACKING = "batch.kubernetes.io/job-tracking"
INDEX = "batch.kubernetes.io/job-completion-index"
COMPLETED = {"SuccessCriteriaMet": "CompletionsReached", "Complete": "CompletionsReached"}


async def make(workshop: Workshop, name: str = "a", restart: str = "Never", **spec: Any) -> Plain:
    container = {"name": "main", "image": "main"}
    template = {"spec": {"containers": [container], "restartPolicy": restart}}
    body = {"metadata": {"name": name}, "spec": {"template": template, **spec}}
    return await workshop.create(workshop.path("jobs", api=BATCH), body)


async def until(workshop: Workshop, holds: Any, name: str = "a") -> Plain:
    return await workshop.until("jobs", name, holds, api=BATCH)


async def ended(workshop: Workshop, name: str = "a") -> Plain:
    """The job, once it has ended."""
    return await until(workshop, lambda it: {"Complete", "Failed"} & reasons(it).keys(), name)


async def running(workshop: Workshop, count: int) -> list[Plain]:
    """The pods that run, as soon as there are so many."""

    def ready(pods: list[Plain]) -> bool:
        return len([pod for pod in pods if _running(pod)]) == count

    return [pod for pod in await workshop.until_all("pods", ready) if _running(pod)]


def _running(pod: Plain) -> bool:
    return pod["status"]["phase"] == "Running" and "deletionTimestamp" not in pod["metadata"]


def numbers(job: Plain) -> dict[str, int]:
    names = ("active", "ready", "succeeded", "failed", "terminating")
    return {name: count for name in names if (count := job["status"].get(name, 0))}


async def merge(workshop: Workshop, spec: Plain, name: str = "a") -> None:
    await workshop.merge(workshop.path("jobs", name, BATCH), {"spec": spec})


async def test_142_a_job_completes(workshop: Workshop) -> None:
    made = await make(workshop)
    (pod,) = await running(workshop, 1)
    meta = pod["metadata"]
    assert meta["finalizers"] == [TRACKING]
    assert meta["generateName"] == "a-"
    uid = made["metadata"]["uid"]
    assert meta["labels"] == {
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": "a",
        "controller-uid": uid,
        "job-name": "a",
    }
    assert meta["ownerReferences"] == [
        {
            "apiVersion": BATCH,
            "kind": "Job",
            "name": "a",
            "uid": uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]
    found = await until(workshop, lambda it: it["status"].get("ready") == 1)
    assert set(found["status"]) == {
        *("active", "ready", "startTime", "terminating", "uncountedTerminatedPods")
    }
    assert found["status"]["uncountedTerminatedPods"] == {}
    workshop.kubelet.let(ENDED)
    found = await ended(workshop)
    assert reasons(found) == COMPLETED
    assert [each[:2] for each in conditions(found)] == [
        ("SuccessCriteriaMet", "True"),
        ("Complete", "True"),
    ]
    assert conditions(found)[1][3] == "Reached expected number of succeeded pods"
    assert set(found["status"]["conditions"][1]) == {
        *("type", "status", "reason", "message", "lastProbeTime", "lastTransitionTime")
    }
    assert numbers(found) == {"succeeded": 1}
    counts = {"ready": 0, "terminating": 0, "uncountedTerminatedPods": {}}
    assert {name: found["status"][name] for name in counts} == counts
    assert found["status"].keys() - counts.keys() == {
        *("completionTime", "conditions", "startTime", "succeeded")
    }
    (pod,) = await workshop.all("pods")
    assert "finalizers" not in pod["metadata"]
    assert await told(workshop, "a", "SuccessfulCreate", 1) == [f"Created pod: {meta['name']}"]
    assert await told(workshop, "a", "Completed", 1) == ["Job completed"]


async def test_142_a_job_runs_as_many_pods_as_it_may_and_needs(workshop: Workshop) -> None:
    await make(workshop, parallelism=2, completions=3)
    first = await running(workshop, 2)
    found = await until(workshop, lambda it: numbers(it) == {"active": 2, "ready": 2})
    name = first[0]["metadata"]["name"]
    await workshop.merge(workshop.path("pods", name), {"metadata": {"labels": {"check": "done"}}})
    workshop.kubelet.let(ENDED, check="done")
    await until(workshop, lambda it: numbers(it) == {"active": 2, "ready": 2, "succeeded": 1})
    workshop.kubelet.let(ENDED)
    found = await ended(workshop)
    assert numbers(found) == {"succeeded": 3}
    assert len(await workshop.all("pods")) == 3


async def test_142_parallelism_may_change(workshop: Workshop) -> None:
    await make(workshop, parallelism=1, completions=5)
    await running(workshop, 1)
    await merge(workshop, {"parallelism": 3})
    await running(workshop, 3)
    await merge(workshop, {"parallelism": 0})
    await workshop.until_all("pods", lambda pods: not pods)
    found = await until(workshop, lambda it: not numbers(it))
    assert "conditions" not in found["status"]


async def test_142_any_success_is_enough_without_a_number(workshop: Workshop) -> None:
    await make(workshop, parallelism=2)
    first, _ = await running(workshop, 2)
    path = workshop.path("pods", first["metadata"]["name"])
    await workshop.merge(path, {"metadata": {"labels": {"check": "done"}}})
    workshop.kubelet.let(ENDED, check="done")
    await until(workshop, lambda it: numbers(it) == {"active": 1, "ready": 1, "succeeded": 1})
    workshop.kubelet.let(ENDED)
    assert numbers(await ended(workshop)) == {"succeeded": 2}


async def test_142_failures_up_to_the_limit(workshop: Workshop) -> None:
    workshop.kubelet.let(FAILED)
    await make(workshop, backoffLimit=1)
    found = await ended(workshop)
    assert reasons(found) == dict.fromkeys(("FailureTarget", "Failed"), "BackoffLimitExceeded")
    assert conditions(found)[1][3] == "Job has reached the specified backoff limit"
    assert numbers(found) == {"failed": 2}
    assert "completionTime" not in found["status"]
    (message,) = await told(workshop, "a", "BackoffLimitExceeded", 1)
    assert message == "Job has reached the specified backoff limit"


async def test_142_a_failed_job_stops_its_pods(workshop: Workshop) -> None:
    await make(workshop, parallelism=2, completions=2, backoffLimit=0)
    first, second = await running(workshop, 2)
    path = workshop.path("pods", first["metadata"]["name"])
    await workshop.merge(path, {"metadata": {"labels": {"check": "bad"}}})
    workshop.kubelet.let(FAILED, check="bad")
    found = await ended(workshop)
    assert numbers(found) == {"failed": 2}
    await workshop.until_gone("pods", second["metadata"]["name"])


async def test_142_restarts_in_place_count(workshop: Workshop) -> None:
    workshop.kubelet.let(Fate(restarts=2))
    await make(workshop, restart="OnFailure", backoffLimit=2)
    found = await ended(workshop)
    assert reasons(found)["Failed"] == "BackoffLimitExceeded"
    assert numbers(found) == {"failed": 1}


async def test_142_a_deadline_ends_a_job(workshop: Workshop) -> None:
    await make(workshop, activeDeadlineSeconds=1)
    found = await ended(workshop)
    assert reasons(found) == dict.fromkeys(("FailureTarget", "Failed"), "DeadlineExceeded")
    assert conditions(found)[1][3] == "Job was active longer than specified deadline"
    await workshop.until_all("pods", lambda pods: not pods)


async def test_142_a_suspended_job_has_no_pods(workshop: Workshop) -> None:
    await make(workshop, suspend=True)
    found = await until(workshop, lambda it: reasons(it))
    assert conditions(found) == [("Suspended", "True", "JobSuspended", "Job suspended")]
    assert "startTime" not in found["status"]
    await merge(workshop, {"suspend": False})
    await running(workshop, 1)
    found = await until(workshop, lambda it: numbers(it) == {"active": 1, "ready": 1})
    assert conditions(found) == [("Suspended", "False", "JobResumed", "Job resumed")]
    assert found["status"]["startTime"]
    await merge(workshop, {"suspend": True})
    await workshop.until_all("pods", lambda pods: not pods)
    found = await until(workshop, lambda it: not numbers(it) and conditions(it)[0][1] == "True")
    assert "startTime" not in found["status"]
    assert set(await told(workshop, "a", "Suspended", 1)) == {"Job suspended"}
    assert await told(workshop, "a", "Resumed", 1) == ["Job resumed"]
    assert len(await told(workshop, "a", "SuccessfulDelete", 1)) == 1


async def test_142_a_deleted_pod_is_replaced_and_counts(workshop: Workshop) -> None:
    await make(workshop)
    (pod,) = await running(workshop, 1)
    await workshop.delete(workshop.path("pods", pod["metadata"]["name"]))
    await workshop.until_gone("pods", pod["metadata"]["name"])
    found = await until(
        workshop, lambda it: it["status"].get("active") == 1 and numbers(it).get("failed")
    )
    assert found["status"]["failed"] == 1


async def test_142_pods_are_adopted_and_released(workshop: Workshop) -> None:
    await make(workshop)
    (pod,) = await running(workshop, 1)
    path = workshop.path("pods", pod["metadata"]["name"])
    await workshop.merge(path, {"metadata": {"ownerReferences": None}})
    name = pod["metadata"]["name"]
    await workshop.until("pods", name, lambda it: "ownerReferences" in it["metadata"])
    gone = dict.fromkeys(pod["metadata"]["labels"])
    await workshop.merge(path, {"metadata": {"labels": gone}})
    free = await workshop.until("pods", name, lambda it: "ownerReferences" not in it["metadata"])
    assert "finalizers" not in free["metadata"]
    await running(workshop, 2)


async def test_142_indexes(workshop: Workshop) -> None:
    await make(workshop, completionMode="Indexed", completions=4, parallelism=3)
    pods = await running(workshop, 3)
    assert sorted(pod["metadata"]["annotations"][INDEX] for pod in pods) == ["0", "1", "2"]
    pod = next(each for each in pods if each["metadata"]["labels"][INDEX] == "1")
    assert pod["metadata"]["generateName"] == "a-1-"
    assert pod["spec"]["hostname"] == "a-1"
    source = {"fieldRef": {"apiVersion": "v1", "fieldPath": f"metadata.labels['{INDEX}']"}}
    assert pod["spec"]["containers"][0]["env"] == [
        {"name": "JOB_COMPLETION_INDEX", "valueFrom": source}
    ]
    workshop.kubelet.let(ENDED, {INDEX: "0"})
    workshop.kubelet.let(ENDED, {INDEX: "2"})
    await until(workshop, lambda it: it["status"].get("completedIndexes") == "0,2")
    workshop.kubelet.let(ENDED)
    found = await ended(workshop)
    assert found["status"]["completedIndexes"] == "0-3"
    assert numbers(found) == {"succeeded": 4}


async def test_142_success_by_policy(workshop: Workshop) -> None:
    mode: Plain = {"completionMode": "Indexed", "completions": 3, "parallelism": 3}
    rules = [{"succeededIndexes": "1", "succeededCount": 1}]
    await make(workshop, successPolicy={"rules": rules}, **mode)
    await running(workshop, 3)
    workshop.kubelet.let(ENDED, {INDEX: "1"})
    found = await ended(workshop)
    assert reasons(found) == dict.fromkeys(("SuccessCriteriaMet", "Complete"), "SuccessPolicy")
    assert conditions(found)[1][3] == "Matched rules at index 0"
    assert numbers(found) == {"succeeded": 1}


async def test_142_failure_by_policy(workshop: Workshop) -> None:
    rules = [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}]
    workshop.kubelet.let(Fate(code=42))
    await make(workshop, podFailurePolicy={"rules": rules})
    found = await ended(workshop)
    assert reasons(found) == dict.fromkeys(("FailureTarget", "Failed"), "PodFailurePolicy")
    (pod,) = await workshop.all("pods")
    where = f"{workshop.namespace}/{pod['metadata']['name']}"
    assert conditions(found)[1][3] == (
        f"Container main for pod {where} failed with exit code 42 matching FailJob rule at index 0"
    )
    assert numbers(found) == {"failed": 1}


FAILURES = "batch.kubernetes.io/job-index-failure-count"
TWO: Plain = {"completionMode": "Indexed", "completions": 2, "parallelism": 2}


async def test_142_indexes_fail_one_by_one(workshop: Workshop) -> None:
    workshop.kubelet.let(FAILED, {INDEX: "0"})
    await make(workshop, backoffLimitPerIndex=1, **TWO)
    found = await until(workshop, lambda it: it["status"].get("failedIndexes") == "0")
    assert not reasons(found)
    pods = await workshop.all("pods")
    marks = [
        (each["metadata"]["labels"][INDEX], each["metadata"]["annotations"][FAILURES])
        for each in pods
    ]
    assert sorted(marks) == [("0", "0"), ("0", "1"), ("1", "0")]
    workshop.kubelet.let(ENDED, {INDEX: "1"})
    found = await ended(workshop)
    assert reasons(found) == dict.fromkeys(("FailureTarget", "Failed"), "FailedIndexes")
    assert conditions(found)[1][3] == "Job has failed indexes"
    assert numbers(found) == {"succeeded": 1, "failed": 2}
    assert found["status"]["completedIndexes"] == "1"


async def test_142_too_many_failed_indexes(workshop: Workshop) -> None:
    await make(workshop, backoffLimitPerIndex=0, maxFailedIndexes=0, **TWO)
    await running(workshop, 2)
    found = await until(workshop, lambda it: numbers(it).get("ready") == 2)
    assert found["status"]["failedIndexes"] == ""
    workshop.kubelet.let(FAILED, {INDEX: "0"})
    found = await ended(workshop)
    assert reasons(found)["Failed"] == "MaxFailedIndexesExceeded"
    text = "Job has exceeded the specified maximal number of failed indexes"
    assert conditions(found)[1][3] == text
    assert numbers(found) == {"failed": 2}


async def test_142_a_policy_may_doom_an_index(workshop: Workshop) -> None:
    rules = [{"action": "FailIndex", "onExitCodes": {"operator": "In", "values": [42]}}]
    workshop.kubelet.let(Fate(code=42), {INDEX: "0"})
    await make(workshop, backoffLimitPerIndex=5, podFailurePolicy={"rules": rules}, **TWO)
    await until(workshop, lambda it: it["status"].get("failedIndexes") == "0")
    assert len(await workshop.quiet("pods")) == 2


async def test_142_failures_that_are_ignored_do_not_count(workshop: Workshop) -> None:
    rules = [{"action": "Ignore", "onExitCodes": {"operator": "In", "values": [42]}}]
    workshop.kubelet.let(Fate(code=42))
    await make(workshop, podFailurePolicy={"rules": rules}, backoffLimit=0)
    await workshop.until_all("pods", lambda pods: len(pods) == 2)
    found = await until(workshop, lambda it: "startTime" in it["status"])
    assert not reasons(found)
    assert "failed" not in numbers(found)


async def test_142_pods_are_replaced_only_when_they_have_failed(workshop: Workshop) -> None:
    workshop.kubelet.let(Fate(lingers=True))
    await make(workshop, podReplacementPolicy="Failed")
    (pod,) = await running(workshop, 1)
    await workshop.delete(workshop.path("pods", pod["metadata"]["name"]))
    found = await until(workshop, lambda it: numbers(it) == {"terminating": 1})
    assert len(await workshop.quiet("pods")) == 1
    workshop.kubelet.let(READY)
    found = await until(workshop, lambda it: numbers(it).get("failed") == 1)
    assert numbers(found).get("terminating", 0) == 0


@pytest.mark.parametrize("policy", ["Background", "Foreground"])
async def test_142_a_deleted_job_takes_its_pods_along(workshop: Workshop, policy: str) -> None:
    await make(workshop, parallelism=2, completions=2)
    await running(workshop, 2)
    await workshop.delete(workshop.path("jobs", "a", BATCH), {"propagationPolicy": policy})
    await workshop.until_gone("jobs", "a", api=BATCH)
    await workshop.until_all("pods", lambda pods: not pods)


async def test_142_orphans_are_not_held_any_more(workshop: Workshop) -> None:
    await make(workshop)
    await running(workshop, 1)
    await workshop.delete(workshop.path("jobs", "a", BATCH))
    await workshop.until_gone("jobs", "a", api=BATCH)

    def free(pods: list[Plain]) -> bool:
        return not {"finalizers", "ownerReferences"} & pods[0]["metadata"].keys()

    assert len(await workshop.until_all("pods", free)) == 1


async def test_142_an_ended_job_is_tidied_away(workshop: Workshop) -> None:
    workshop.kubelet.let(ENDED)
    await make(workshop, ttlSecondsAfterFinished=1)
    await workshop.until_gone("jobs", "a", api=BATCH)
    await workshop.until_all("pods", lambda pods: not pods)


async def test_142_pods_that_wait_are_active_and_not_ready(workshop: Workshop) -> None:
    workshop.kubelet.let(UNBOUND)
    await make(workshop)
    await until(workshop, lambda it: numbers(it) == {"active": 1})
