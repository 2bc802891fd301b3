"""Jobs run to their end on a server with their controller and nothing else."""

from __future__ import annotations

import asyncio
from typing import Any

from quintant.cluster.controllers import garbage
from quintant.cluster.controllers.job import declare
from unit.cluster.api import PODS, Api, JsonObject
from unit.cluster.controllers.running_controllers import controlled, exists, gone, until

JOBS = "/apis/batch/v1/namespaces/default/jobs"
EVENTS = "/api/v1/namespaces/default/events"
TRACKING = "batch.kubernetes.io/job-tracking"
INDEX = "batch.kubernetes.io/job-completion-index"


async def make(api: Api, name: str = "a", restart: str = "Never", **spec: Any) -> JsonObject:
    container = {"name": "main", "image": "main"}
    template = {"spec": {"containers": [container], "restartPolicy": restart}}
    job = {"metadata": {"name": name}, "spec": {"template": template, **spec}}
    return await api.create(JOBS, job)


async def pods(api: Api) -> list[JsonObject]:
    found: list[JsonObject] = (await api.get(PODS))["items"]
    return [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]


async def working(api: Api, count: int) -> list[JsonObject]:
    """The pods that run or will run, as soon as there are so many."""

    async def found() -> list[JsonObject]:
        return [pod for pod in await pods(api) if pod["status"]["phase"] in ("Pending", "Running")]

    return await until(found, lambda held: len(held) == count)


async def end(api: Api, pod: JsonObject, phase: str = "Succeeded", **status: Any) -> None:
    path = f"{PODS}/{pod['metadata']['name']}/status"
    await api.merge(path, {"status": {"phase": phase, **status}})


async def job(api: Api, name: str = "a") -> JsonObject:
    return await api.get(f"{JOBS}/{name}")


async def finished(api: Api, name: str = "a") -> JsonObject:
    """The job with a terminal condition; its conditions by type."""

    def ended(found: JsonObject) -> bool:
        return bool({"Complete", "Failed"} & conditions(found).keys())

    return await until(lambda: job(api, name), ended)


def conditions(found: JsonObject) -> dict[str, str]:
    listed = found.get("status", {}).get("conditions", [])
    return {each["type"]: each.get("reason", "") for each in listed if each["status"] == "True"}


async def reasons(api: Api) -> set[str]:
    return {event["reason"] for event in (await api.get(EVENTS))["items"]}


async def test_job_completes_when_its_pod_succeeds() -> None:
    async with controlled(declare) as api:
        await make(api)
        [pod] = await working(api, 1)
        assert pod["metadata"]["finalizers"] == [TRACKING]
        assert pod["metadata"]["generateName"] == "a-"
        running = await until(lambda: job(api), lambda found: found["status"].get("active"))
        assert running["status"]["startTime"]
        assert running["status"]["uncountedTerminatedPods"] == {}
        await end(api, pod)
        done = await finished(api)
        assert conditions(done) == {
            "SuccessCriteriaMet": "CompletionsReached",
            "Complete": "CompletionsReached",
        }
        status = done["status"]
        assert (status["succeeded"], status.get("active", 0), status["ready"]) == (1, 0, 0)
        assert status["completionTime"]
        assert status["uncountedTerminatedPods"] == {}
        assert "finalizers" not in (await pods(api))[0]["metadata"]
        assert await reasons(api) == {"SuccessfulCreate", "Completed"}


async def test_no_more_pods_work_than_are_allowed_or_needed() -> None:
    async with controlled(declare) as api:
        await make(api, parallelism=2, completions=3)
        first = await working(api, 2)
        await end(api, first[0])
        await working(api, 2)
        await end(api, first[1])
        [last] = await working(api, 1)
        await end(api, last)
        done = await finished(api)
        assert done["status"]["succeeded"] == 3
        assert len(await pods(api)) == 3


async def test_failures_are_retried_with_growing_patience_up_to_the_limit() -> None:
    async with controlled(declare) as api:
        await make(api, backoffLimit=2)
        loop = asyncio.get_running_loop()
        waits = []
        for _ in range(3):
            began = loop.time()
            [pod] = await working(api, 1)
            waits.append(round(loop.time() - began))
            finish = {"containerStatuses": [_exited("main", 1, await _now(api))]}
            await end(api, pod, "Failed", **finish)
        failed = await finished(api)
        assert conditions(failed) == {
            "FailureTarget": "BackoffLimitExceeded",
            "Failed": "BackoffLimitExceeded",
        }
        assert waits == [0, 10, 20]
        assert failed["status"]["failed"] == 3
        assert "BackoffLimitExceeded" in await reasons(api)


async def test_job_that_takes_too_long_fails_and_its_pods_go() -> None:
    async with controlled(declare) as api:
        await make(api, activeDeadlineSeconds=30)
        await working(api, 1)
        await asyncio.sleep(25)
        assert not conditions(await job(api))
        failed = await finished(api)
        assert conditions(failed)["Failed"] == "DeadlineExceeded"
        assert failed["status"]["failed"] == 1
        assert not await pods(api)


async def test_job_ends_only_when_its_pods_are_gone() -> None:
    async with controlled(declare) as api:
        await make(api, activeDeadlineSeconds=1)
        [pod] = await working(api, 1)
        await _bind(api, pod)
        assert await exists(api, f"{PODS}/{pod['metadata']['name']}")
        found = await job(api)
        assert conditions(found) == {"FailureTarget": "DeadlineExceeded"}
        assert found["status"]["terminating"] == 1
        await api.delete(f"{PODS}/{pod['metadata']['name']}", {"gracePeriodSeconds": 0})
        assert (await finished(api))["status"]["terminating"] == 0


async def test_suspended_job_has_no_pods_until_it_is_resumed() -> None:
    async with controlled(declare) as api:
        await make(api, parallelism=2, completions=2)
        await working(api, 2)
        await api.merge(f"{JOBS}/a", {"spec": {"suspend": True}})
        await until(lambda: pods(api), lambda found: not found)
        held = await until(
            lambda: job(api), lambda it: conditions(it) == {"Suspended": "JobSuspended"}
        )
        assert held["status"].get("failed", 0) == 0
        assert "startTime" not in held["status"]
        await api.merge(f"{JOBS}/a", {"spec": {"suspend": False}})
        await working(api, 2)
        resumed = await until(lambda: job(api), lambda it: not conditions(it))
        assert resumed["status"]["startTime"]
        assert {"Suspended", "Resumed", "SuccessfulDelete"} <= await reasons(api)


async def test_indexes_are_worked_on_one_by_one() -> None:
    async with controlled(declare) as api:
        await make(api, completionMode="Indexed", completions=4, parallelism=2)
        seen = []
        for _ in range(2):
            two = await working(api, 2)
            for pod in two:
                number = pod["metadata"]["annotations"][INDEX]
                assert pod["metadata"]["labels"][INDEX] == number
                assert pod["spec"]["hostname"] == f"a-{number}"
                assert pod["metadata"]["name"].startswith(f"a-{number}-")
                [variable] = pod["spec"]["containers"][0]["env"]
                assert variable["name"] == "JOB_COMPLETION_INDEX"
                seen.append(number)
            for pod in two:
                await end(api, pod)
        done = await finished(api)
        assert seen == ["0", "1", "2", "3"]
        assert done["status"]["completedIndexes"] == "0-3"
        assert done["status"]["succeeded"] == 4


async def test_policy_may_end_a_job_at_the_first_failure() -> None:
    async with controlled(declare) as api:
        codes = {"operator": "In", "values": [42]}
        rules = [{"action": "FailJob", "onExitCodes": codes}]
        await make(api, podFailurePolicy={"rules": rules})
        [pod] = await working(api, 1)
        await end(api, pod, "Failed", containerStatuses=[_exited("main", 42, await _now(api))])
        failed = await finished(api)
        assert conditions(failed)["Failed"] == "PodFailurePolicy"
        [why] = [c["message"] for c in failed["status"]["conditions"] if c["type"] == "Failed"]
        name = pod["metadata"]["name"]
        assert why == (
            f"Container main for pod default/{name} failed with exit code 42 matching FailJob rule "
            "at index 0"
        )


async def test_policy_may_be_content_with_some_indexes() -> None:
    async with controlled(declare) as api:
        policy = {"rules": [{"succeededIndexes": "0"}]}
        mode: JsonObject = {"completionMode": "Indexed", "completions": 3, "parallelism": 3}
        await make(api, successPolicy=policy, **mode)
        first, *_ = await working(api, 3)
        await end(api, first)
        done = await finished(api)
        assert conditions(done)["Complete"] == "SuccessPolicy"
        assert done["status"]["succeeded"] == 1
        assert len(await pods(api)) == 1


FAILURES = "batch.kubernetes.io/job-index-failure-count"
MODE: JsonObject = {"completionMode": "Indexed", "completions": 2, "parallelism": 2}


async def fail(api: Api, pod: JsonObject, code: int = 1) -> None:
    await end(api, pod, "Failed", containerStatuses=[_exited("main", code, await _now(api))])


async def test_indexes_fail_one_by_one_each_with_a_patience_of_its_own() -> None:
    async with controlled(declare) as api:
        await make(api, backoffLimitPerIndex=1, **MODE)
        zero, one = await working(api, 2)
        assert zero["metadata"]["annotations"][FAILURES] == "0"
        await fail(api, zero)
        await asyncio.sleep(5)
        # It is held, for its number is needed still.
        held = await api.get(f"{PODS}/{zero['metadata']['name']}")
        assert held["metadata"]["finalizers"] == [TRACKING]
        again = next(
            pod
            for pod in await working(api, 2)
            if pod["metadata"]["name"] != one["metadata"]["name"]
        )
        assert again["metadata"]["annotations"][FAILURES] == "1"
        await fail(api, again)
        found = await until(lambda: job(api), lambda it: it["status"].get("failedIndexes") == "0")
        assert not conditions(found)
        await end(api, one)
        failed = await finished(api)
        assert conditions(failed) == dict.fromkeys(("FailureTarget", "Failed"), "FailedIndexes")
        assert failed["status"]["completedIndexes"] == "1"
        assert (failed["status"]["failed"], failed["status"]["succeeded"]) == (2, 1)


async def test_too_many_failed_indexes_end_a_job() -> None:
    async with controlled(declare) as api:
        await make(api, backoffLimitPerIndex=0, maxFailedIndexes=0, **MODE)
        zero, _ = await working(api, 2)
        await fail(api, zero)
        failed = await finished(api)
        assert conditions(failed)["Failed"] == "MaxFailedIndexesExceeded"
        assert not await working(api, 0)


async def test_policy_may_doom_an_index() -> None:
    async with controlled(declare) as api:
        rules = [{"action": "FailIndex", "onExitCodes": {"operator": "In", "values": [42]}}]
        await make(api, backoffLimitPerIndex=5, podFailurePolicy={"rules": rules}, **MODE)
        zero, one = await working(api, 2)
        await fail(api, zero, 42)
        await until(lambda: job(api), lambda it: it["status"].get("failedIndexes") == "0")
        await end(api, one)
        assert conditions(await finished(api))["Failed"] == "FailedIndexes"


async def test_pods_of_a_deleted_job_are_let_go() -> None:
    async with controlled(declare, garbage.declare) as api:
        await make(api)
        [pod] = await working(api, 1)
        await api.delete(f"{JOBS}/a", {"propagationPolicy": "Background"})
        await gone(api, f"{PODS}/{pod['metadata']['name']}")


async def test_orphans_of_a_job_are_held_no_longer() -> None:
    async with controlled(declare, garbage.declare) as api:
        await make(api)
        await working(api, 1)
        await api.delete(f"{JOBS}/a", {"propagationPolicy": "Orphan"})
        await gone(api, f"{JOBS}/a")
        [orphan] = await until(
            lambda: pods(api), lambda found: "finalizers" not in found[0]["metadata"]
        )
        assert "ownerReferences" not in orphan["metadata"]


async def test_lost_pod_is_adopted_again_and_a_foreign_one_released() -> None:
    async with controlled(declare) as api:
        await make(api)
        [pod] = await working(api, 1)
        path = f"{PODS}/{pod['metadata']['name']}"
        await api.merge(path, {"metadata": {"ownerReferences": None}})
        await until(lambda: api.get(path), lambda it: "ownerReferences" in it["metadata"])
        labels = dict.fromkeys(pod["metadata"]["labels"])
        await api.merge(path, {"metadata": {"labels": labels}})
        left = await until(
            lambda: api.get(path), lambda it: "ownerReferences" not in it["metadata"]
        )
        assert "finalizers" not in left["metadata"]
        await working(api, 2)


async def test_deleted_pod_is_replaced_and_counts_as_failed() -> None:
    async with controlled(declare) as api:
        await make(api)
        [pod] = await working(api, 1)
        await api.delete(f"{PODS}/{pod['metadata']['name']}")
        await until(lambda: job(api), lambda found: found["status"].get("failed") == 1)
        [other] = await working(api, 1)
        assert other["metadata"]["name"] != pod["metadata"]["name"]


async def test_pod_that_is_going_may_have_to_fail_before_it_is_replaced() -> None:
    async with controlled(declare) as api:
        await make(api, podReplacementPolicy="Failed")
        [pod] = await working(api, 1)
        await _bind(api, pod)
        await api.delete(f"{PODS}/{pod['metadata']['name']}")
        await asyncio.sleep(60)
        assert not await pods(api)
        assert (await job(api))["status"]["terminating"] == 1
        await end(api, pod, "Failed")
        await working(api, 1)


async def test_no_pod_is_counted_twice_or_forgotten_over_a_restart() -> None:
    async with controlled(declare) as api:
        await make(api, parallelism=3, completions=6)
        for pod in await working(api, 3):
            await end(api, pod)
    async with controlled(declare, on=api.server):
        for pod in await working(api, 3):
            await end(api, pod)
        assert (await finished(api))["status"]["succeeded"] == 6
        assert len(await pods(api)) == 6


async def test_at_rest_nothing_is_written() -> None:
    async with controlled(declare) as api:
        await make(api)
        await working(api, 1)
        await asyncio.sleep(10)
        before = (await api.get(PODS))["metadata"]["resourceVersion"]
        await asyncio.sleep(3000)
        assert (await api.get(PODS))["metadata"]["resourceVersion"] == before


def _exited(name: str, code: int, at: str) -> JsonObject:
    ended = {"exitCode": code, "reason": "Error", "startedAt": at, "finishedAt": at}
    state = {"terminated": ended}
    image = {"image": "main", "imageID": "", "ready": False, "restartCount": 0}
    return {"name": name, "state": state, **image}


async def _now(api: Api) -> str:
    """The time of day, as the server tells it."""
    made = await api.create(
        EVENTS.replace("events", "configmaps"), {"metadata": {"generateName": "t-"}}
    )
    now: str = made["metadata"]["creationTimestamp"]
    return now


async def _bind(api: Api, pod: JsonObject) -> None:
    name = pod["metadata"]["name"]
    body = {"metadata": {"name": name}, "target": {"kind": "Node", "name": "somewhere"}}
    await api.create(f"{PODS}/{name}/binding", body)
