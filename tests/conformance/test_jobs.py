"""Jobs on both servers: how they run, fail and end, and what they tell of themselves."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.controller_cluster import ControllerCluster
from conformance.kubelet import ENDED, FAILED, READY, UNBOUND, Fate
from conformance.workloads import conditions, reasons, told
from unit.cluster.api import JsonObject

BATCH = "batch/v1"
TRACKING = "batch.kubernetes.io/job-tracking"
INDEX = "batch.kubernetes.io/job-completion-index"
COMPLETED = {"SuccessCriteriaMet": "CompletionsReached", "Complete": "CompletionsReached"}


async def make(
    cluster: ControllerCluster, name: str = "a", restart: str = "Never", **spec: Any
) -> JsonObject:
    container = {"name": "main", "image": "main"}
    template = {"spec": {"containers": [container], "restartPolicy": restart}}
    body = {"metadata": {"name": name}, "spec": {"template": template, **spec}}
    return await cluster.create(cluster.path("jobs", api=BATCH), body)


async def until(cluster: ControllerCluster, holds: Any, name: str = "a") -> JsonObject:
    return await cluster.until("jobs", name, holds, api=BATCH)


async def ended(cluster: ControllerCluster, name: str = "a") -> JsonObject:
    """The job, once it has ended."""
    return await until(cluster, lambda it: {"Complete", "Failed"} & reasons(it).keys(), name)


async def running(cluster: ControllerCluster, count: int) -> list[JsonObject]:
    """The pods that run, as soon as there are so many."""

    def ready(pods: list[JsonObject]) -> bool:
        return len([pod for pod in pods if _running(pod)]) == count

    return [pod for pod in await cluster.until_all("pods", ready) if _running(pod)]


def _running(pod: JsonObject) -> bool:
    return pod["status"]["phase"] == "Running" and "deletionTimestamp" not in pod["metadata"]


def numbers(job: JsonObject) -> dict[str, int]:
    names = ("active", "ready", "succeeded", "failed", "terminating")
    return {name: count for name in names if (count := job["status"].get(name, 0))}


async def merge(cluster: ControllerCluster, spec: JsonObject, name: str = "a") -> None:
    await cluster.merge(cluster.path("jobs", name, BATCH), {"spec": spec})


async def test_a_job_completes(cluster: ControllerCluster) -> None:
    made = await make(cluster)
    (pod,) = await running(cluster, 1)
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
    found = await until(cluster, lambda it: it["status"].get("ready") == 1)
    assert set(found["status"]) == {
        *("active", "ready", "startTime", "terminating", "uncountedTerminatedPods")
    }
    assert found["status"]["uncountedTerminatedPods"] == {}
    cluster.kubelet.let(ENDED)
    found = await ended(cluster)
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
    (pod,) = await cluster.all("pods")
    assert "finalizers" not in pod["metadata"]
    assert await told(cluster, "a", "SuccessfulCreate", 1) == [f"Created pod: {meta['name']}"]
    assert await told(cluster, "a", "Completed", 1) == ["Job completed"]


async def test_a_job_runs_as_many_pods_as_it_may_and_needs(cluster: ControllerCluster) -> None:
    await make(cluster, parallelism=2, completions=3)
    first = await running(cluster, 2)
    found = await until(cluster, lambda it: numbers(it) == {"active": 2, "ready": 2})
    name = first[0]["metadata"]["name"]
    await cluster.merge(cluster.path("pods", name), {"metadata": {"labels": {"check": "done"}}})
    cluster.kubelet.let(ENDED, check="done")
    await until(cluster, lambda it: numbers(it) == {"active": 2, "ready": 2, "succeeded": 1})
    cluster.kubelet.let(ENDED)
    found = await ended(cluster)
    assert numbers(found) == {"succeeded": 3}
    assert len(await cluster.all("pods")) == 3


async def test_parallelism_may_change(cluster: ControllerCluster) -> None:
    await make(cluster, parallelism=1, completions=5)
    await running(cluster, 1)
    await merge(cluster, {"parallelism": 3})
    await running(cluster, 3)
    await merge(cluster, {"parallelism": 0})
    await cluster.until_all("pods", lambda pods: not pods)
    found = await until(cluster, lambda it: not numbers(it))
    assert "conditions" not in found["status"]


async def test_any_success_is_enough_without_a_number(cluster: ControllerCluster) -> None:
    await make(cluster, parallelism=2)
    first, _ = await running(cluster, 2)
    path = cluster.path("pods", first["metadata"]["name"])
    await cluster.merge(path, {"metadata": {"labels": {"check": "done"}}})
    cluster.kubelet.let(ENDED, check="done")
    await until(cluster, lambda it: numbers(it) == {"active": 1, "ready": 1, "succeeded": 1})
    cluster.kubelet.let(ENDED)
    assert numbers(await ended(cluster)) == {"succeeded": 2}


async def test_failures_up_to_the_limit(cluster: ControllerCluster) -> None:
    cluster.kubelet.let(FAILED)
    await make(cluster, backoffLimit=1)
    found = await ended(cluster)
    assert reasons(found) == dict.fromkeys(("FailureTarget", "Failed"), "BackoffLimitExceeded")
    assert conditions(found)[1][3] == "Job has reached the specified backoff limit"
    assert numbers(found) == {"failed": 2}
    assert "completionTime" not in found["status"]
    (message,) = await told(cluster, "a", "BackoffLimitExceeded", 1)
    assert message == "Job has reached the specified backoff limit"


async def test_a_failed_job_stops_its_pods(cluster: ControllerCluster) -> None:
    await make(cluster, parallelism=2, completions=2, backoffLimit=0)
    first, second = await running(cluster, 2)
    path = cluster.path("pods", first["metadata"]["name"])
    await cluster.merge(path, {"metadata": {"labels": {"check": "bad"}}})
    cluster.kubelet.let(FAILED, check="bad")
    found = await ended(cluster)
    assert numbers(found) == {"failed": 2}
    await cluster.until_gone("pods", second["metadata"]["name"])


async def test_restarts_in_place_count(cluster: ControllerCluster) -> None:
    cluster.kubelet.let(Fate(restarts=2))
    await make(cluster, restart="OnFailure", backoffLimit=2)
    found = await ended(cluster)
    assert reasons(found)["Failed"] == "BackoffLimitExceeded"
    assert numbers(found) == {"failed": 1}


async def test_a_deadline_ends_a_job(cluster: ControllerCluster) -> None:
    await make(cluster, activeDeadlineSeconds=1)
    found = await ended(cluster)
    assert reasons(found) == dict.fromkeys(("FailureTarget", "Failed"), "DeadlineExceeded")
    assert conditions(found)[1][3] == "Job was active longer than specified deadline"
    await cluster.until_all("pods", lambda pods: not pods)


async def test_a_suspended_job_has_no_pods(cluster: ControllerCluster) -> None:
    await make(cluster, suspend=True)
    found = await until(cluster, lambda it: reasons(it))
    assert conditions(found) == [("Suspended", "True", "JobSuspended", "Job suspended")]
    assert "startTime" not in found["status"]
    await merge(cluster, {"suspend": False})
    await running(cluster, 1)
    found = await until(cluster, lambda it: numbers(it) == {"active": 1, "ready": 1})
    assert conditions(found) == [("Suspended", "False", "JobResumed", "Job resumed")]
    assert found["status"]["startTime"]
    await merge(cluster, {"suspend": True})
    await cluster.until_all("pods", lambda pods: not pods)
    found = await until(cluster, lambda it: not numbers(it) and conditions(it)[0][1] == "True")
    assert "startTime" not in found["status"]
    assert set(await told(cluster, "a", "Suspended", 1)) == {"Job suspended"}
    assert await told(cluster, "a", "Resumed", 1) == ["Job resumed"]
    assert len(await told(cluster, "a", "SuccessfulDelete", 1)) == 1


async def test_a_deleted_pod_is_replaced_and_counts(cluster: ControllerCluster) -> None:
    await make(cluster)
    (pod,) = await running(cluster, 1)
    await cluster.delete(cluster.path("pods", pod["metadata"]["name"]))
    await cluster.until_gone("pods", pod["metadata"]["name"])
    found = await until(
        cluster, lambda it: it["status"].get("active") == 1 and numbers(it).get("failed")
    )
    assert found["status"]["failed"] == 1


async def test_pods_are_adopted_and_released(cluster: ControllerCluster) -> None:
    await make(cluster)
    (pod,) = await running(cluster, 1)
    path = cluster.path("pods", pod["metadata"]["name"])
    await cluster.merge(path, {"metadata": {"ownerReferences": None}})
    name = pod["metadata"]["name"]
    await cluster.until("pods", name, lambda it: "ownerReferences" in it["metadata"])
    gone = dict.fromkeys(pod["metadata"]["labels"])
    await cluster.merge(path, {"metadata": {"labels": gone}})
    free = await cluster.until("pods", name, lambda it: "ownerReferences" not in it["metadata"])
    assert "finalizers" not in free["metadata"]
    await running(cluster, 2)


async def test_indexes(cluster: ControllerCluster) -> None:
    await make(cluster, completionMode="Indexed", completions=4, parallelism=3)
    pods = await running(cluster, 3)
    assert sorted(pod["metadata"]["annotations"][INDEX] for pod in pods) == ["0", "1", "2"]
    pod = next(each for each in pods if each["metadata"]["labels"][INDEX] == "1")
    assert pod["metadata"]["generateName"] == "a-1-"
    assert pod["spec"]["hostname"] == "a-1"
    source = {"fieldRef": {"apiVersion": "v1", "fieldPath": f"metadata.labels['{INDEX}']"}}
    assert pod["spec"]["containers"][0]["env"] == [
        {"name": "JOB_COMPLETION_INDEX", "valueFrom": source}
    ]
    cluster.kubelet.let(ENDED, {INDEX: "0"})
    cluster.kubelet.let(ENDED, {INDEX: "2"})
    await until(cluster, lambda it: it["status"].get("completedIndexes") == "0,2")
    cluster.kubelet.let(ENDED)
    found = await ended(cluster)
    assert found["status"]["completedIndexes"] == "0-3"
    assert numbers(found) == {"succeeded": 4}


async def test_success_by_policy(cluster: ControllerCluster) -> None:
    mode: JsonObject = {"completionMode": "Indexed", "completions": 3, "parallelism": 3}
    rules = [{"succeededIndexes": "1", "succeededCount": 1}]
    await make(cluster, successPolicy={"rules": rules}, **mode)
    await running(cluster, 3)
    cluster.kubelet.let(ENDED, {INDEX: "1"})
    found = await ended(cluster)
    assert reasons(found) == dict.fromkeys(("SuccessCriteriaMet", "Complete"), "SuccessPolicy")
    assert conditions(found)[1][3] == "Matched rules at index 0"
    assert numbers(found) == {"succeeded": 1}


async def test_failure_by_policy(cluster: ControllerCluster) -> None:
    rules = [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}]
    cluster.kubelet.let(Fate(code=42))
    await make(cluster, podFailurePolicy={"rules": rules})
    found = await ended(cluster)
    assert reasons(found) == dict.fromkeys(("FailureTarget", "Failed"), "PodFailurePolicy")
    (pod,) = await cluster.all("pods")
    where = f"{cluster.namespace}/{pod['metadata']['name']}"
    assert conditions(found)[1][3] == (
        f"Container main for pod {where} failed with exit code 42 matching FailJob rule at index 0"
    )
    assert numbers(found) == {"failed": 1}


FAILURES = "batch.kubernetes.io/job-index-failure-count"
TWO: JsonObject = {"completionMode": "Indexed", "completions": 2, "parallelism": 2}


async def test_indexes_fail_one_by_one(cluster: ControllerCluster) -> None:
    cluster.kubelet.let(FAILED, {INDEX: "0"})
    await make(cluster, backoffLimitPerIndex=1, **TWO)
    found = await until(cluster, lambda it: it["status"].get("failedIndexes") == "0")
    assert not reasons(found)
    pods = await cluster.all("pods")
    marks = [
        (each["metadata"]["labels"][INDEX], each["metadata"]["annotations"][FAILURES])
        for each in pods
    ]
    assert sorted(marks) == [("0", "0"), ("0", "1"), ("1", "0")]
    cluster.kubelet.let(ENDED, {INDEX: "1"})
    found = await ended(cluster)
    assert reasons(found) == dict.fromkeys(("FailureTarget", "Failed"), "FailedIndexes")
    assert conditions(found)[1][3] == "Job has failed indexes"
    assert numbers(found) == {"succeeded": 1, "failed": 2}
    assert found["status"]["completedIndexes"] == "1"


async def test_too_many_failed_indexes(cluster: ControllerCluster) -> None:
    await make(cluster, backoffLimitPerIndex=0, maxFailedIndexes=0, **TWO)
    await running(cluster, 2)
    found = await until(cluster, lambda it: numbers(it).get("ready") == 2)
    assert found["status"]["failedIndexes"] == ""
    cluster.kubelet.let(FAILED, {INDEX: "0"})
    found = await ended(cluster)
    assert reasons(found)["Failed"] == "MaxFailedIndexesExceeded"
    text = "Job has exceeded the specified maximal number of failed indexes"
    assert conditions(found)[1][3] == text
    assert numbers(found) == {"failed": 2}


async def test_a_policy_may_doom_an_index(cluster: ControllerCluster) -> None:
    rules = [{"action": "FailIndex", "onExitCodes": {"operator": "In", "values": [42]}}]
    cluster.kubelet.let(Fate(code=42), {INDEX: "0"})
    await make(cluster, backoffLimitPerIndex=5, podFailurePolicy={"rules": rules}, **TWO)
    await until(cluster, lambda it: it["status"].get("failedIndexes") == "0")
    assert len(await cluster.quiet("pods")) == 2


async def test_failures_that_are_ignored_do_not_count(cluster: ControllerCluster) -> None:
    rules = [{"action": "Ignore", "onExitCodes": {"operator": "In", "values": [42]}}]
    cluster.kubelet.let(Fate(code=42))
    await make(cluster, podFailurePolicy={"rules": rules}, backoffLimit=0)
    await cluster.until_all("pods", lambda pods: len(pods) == 2)
    found = await until(cluster, lambda it: "startTime" in it["status"])
    assert not reasons(found)
    assert "failed" not in numbers(found)


async def test_pods_are_replaced_only_when_they_have_failed(cluster: ControllerCluster) -> None:
    cluster.kubelet.let(Fate(lingers=True))
    await make(cluster, podReplacementPolicy="Failed")
    (pod,) = await running(cluster, 1)
    await cluster.delete(cluster.path("pods", pod["metadata"]["name"]))
    found = await until(cluster, lambda it: numbers(it) == {"terminating": 1})
    assert len(await cluster.quiet("pods")) == 1
    cluster.kubelet.let(READY)
    found = await until(cluster, lambda it: numbers(it).get("failed") == 1)
    assert numbers(found).get("terminating", 0) == 0


@pytest.mark.parametrize("policy", ["Background", "Foreground"])
async def test_a_deleted_job_takes_its_pods_along(cluster: ControllerCluster, policy: str) -> None:
    await make(cluster, parallelism=2, completions=2)
    await running(cluster, 2)
    await cluster.delete(cluster.path("jobs", "a", BATCH), {"propagationPolicy": policy})
    await cluster.until_gone("jobs", "a", api=BATCH)
    await cluster.until_all("pods", lambda pods: not pods)


async def test_orphans_are_not_held_any_more(cluster: ControllerCluster) -> None:
    await make(cluster)
    await running(cluster, 1)
    await cluster.delete(cluster.path("jobs", "a", BATCH))
    await cluster.until_gone("jobs", "a", api=BATCH)

    def free(pods: list[JsonObject]) -> bool:
        return not {"finalizers", "ownerReferences"} & pods[0]["metadata"].keys()

    assert len(await cluster.until_all("pods", free)) == 1


async def test_an_ended_job_is_tidied_away(cluster: ControllerCluster) -> None:
    cluster.kubelet.let(ENDED)
    await make(cluster, ttlSecondsAfterFinished=1)
    await cluster.until_gone("jobs", "a", api=BATCH)
    await cluster.until_all("pods", lambda pods: not pods)


async def test_pods_that_wait_are_active_and_not_ready(cluster: ControllerCluster) -> None:
    cluster.kubelet.let(UNBOUND)
    await make(cluster)
    await until(cluster, lambda it: numbers(it) == {"active": 1})
