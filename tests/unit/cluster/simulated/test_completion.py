"""Simulated pods end as their commands, annotations or the cluster say, and Jobs count them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from quintant.cluster.common.labels import EXIT_CODE, RUN_SECONDS
from quintant.cluster.component.component import Component
from quintant.cluster.controllers import job
from quintant.cluster.simulated.completion import PodCompletion, pod_completion
from quintant.cluster.simulated.views import SimPod
from quintant.core import codec
from quintant.runtime.manager.manager import Manager
from unit.cluster.api import PODS, Api, JsonObject, server
from unit.cluster.controllers.running_controllers import until
from unit.cluster.simulated.simulated_cluster import phase, pod, read, simulated

JOBS = "/apis/batch/v1/namespaces/default/jobs"
START = 1.0
"""Seconds within which a pod runs."""


def seen(
    *commands: list[str], policy: str = "Never", annotations: dict[str, str] | None = None
) -> SimPod:
    containers = [{"name": f"c{at}", "command": each} for at, each in enumerate(commands)]
    meta = {"name": "p", "annotations": annotations or {}}
    spec = {"containers": containers, "restartPolicy": policy}
    return codec.from_plain(SimPod, {"metadata": meta, "spec": spec})


def test_a_pod_ends_with_the_last_of_its_containers() -> None:
    found = pod_completion(seen(["sleep", "5"], ["sh", "-c", "sleep 9; exit 3"]))
    assert found == PodCompletion(9, {"c0": 0, "c1": 3}, restarts=False)


@pytest.mark.parametrize(
    "given",
    [
        seen(["sleep", "5"], policy="Always"),
        seen(["sleep", "5"], ["nginx"]),
        seen(["nginx"], annotations={EXIT_CODE: "much", RUN_SECONDS: "-1"}),
    ],
    ids=["restarted for ever", "one goes on", "annotations of no meaning"],
)
def test_a_pod_of_which_nothing_says_that_it_ends_goes_on(given: SimPod) -> None:
    assert pod_completion(given) is None


@pytest.mark.parametrize(
    ("annotations", "seconds", "code"),
    [
        ({EXIT_CODE: "3"}, 2, 3),
        ({RUN_SECONDS: "7.5"}, 7.5, 0),
        ({EXIT_CODE: "137", RUN_SECONDS: "0"}, 0, 137),
    ],
)
def test_annotations_come_before_commands(
    annotations: dict[str, str], seconds: float, code: int
) -> None:
    found = pod_completion(seen(["sleep", "99"], annotations=annotations))
    assert found == PodCompletion(seconds, {"c0": code}, restarts=False)


def test_what_the_cluster_says_is_for_pods_that_say_nothing() -> None:
    assert pod_completion(seen(["nginx"]), 4) == PodCompletion(4, {"c0": 0}, restarts=False)
    assert pod_completion(seen(["sleep", "9"]), 4) == PodCompletion(9, {"c0": 0}, restarts=False)
    assert pod_completion(seen(["nginx"], policy="Always"), 4) is None


def bare(name: str, line: str, policy: str = "Never") -> JsonObject:
    container = {"name": "c", "image": "busybox", "command": ["sh", "-c", line]}
    return pod(name, containers=[container], restartPolicy=policy)


async def terminated(api: Api, name: str) -> JsonObject:
    (status,) = (await read(api, name))["status"]["containerStatuses"]
    found: JsonObject = status["state"]["terminated"]
    return found


async def test_bare_pods_end_with_their_exit_codes() -> None:
    async with simulated() as api:
        await api.create(PODS, bare("good", "sleep 5"))
        await api.create(PODS, bare("bad", "sleep 5; exit 3"))
        await api.create(PODS, pod("other", restartPolicy="Never"))
        await asyncio.sleep(START + 3)
        assert [await phase(api, name) for name in ("good", "bad")] == ["Running", "Running"]
        await asyncio.sleep(4)
        assert await phase(api, "good") == "Succeeded"
        assert (await terminated(api, "good"))["reason"] == "Completed"
        assert await phase(api, "bad") == "Failed"
        ended = await terminated(api, "bad")
        assert (ended["exitCode"], ended["reason"]) == (3, "Error")
        assert await phase(api, "other") == "Running"


async def test_a_pod_that_is_restarted_on_failure_backs_off() -> None:
    async with simulated() as api:
        await api.create(PODS, bare("flaky", "sleep 5; exit 3", "OnFailure"))
        await asyncio.sleep(START + 6)
        (status,) = (await read(api, "flaky"))["status"]["containerStatuses"]
        assert status["state"]["waiting"]["reason"] == "CrashLoopBackOff"
        assert status["lastState"]["terminated"]["exitCode"] == 3
        await asyncio.sleep(11)
        (status,) = (await read(api, "flaky"))["status"]["containerStatuses"]
        assert (status["restartCount"], await phase(api, "flaky")) == (1, "Running")


async def finished(api: Api, line: str, **spec: Any) -> JsonObject:
    """A Job whose pods run a line, when it has ended."""
    container = {"name": "c", "image": "busybox", "command": ["sh", "-c", line]}
    template = {"spec": {"containers": [container], "restartPolicy": "Never"}}
    made = {"metadata": {"name": "j"}, "spec": {"template": template, **spec}}
    await api.create(JOBS, made)

    def ended(it: JsonObject) -> bool:
        conditions = (it.get("status") or {}).get("conditions") or ()
        return any(each["type"] in ("Complete", "Failed") for each in conditions)

    return await until(lambda: api.get(f"{JOBS}/j"), ended)


def jobs() -> Component:
    manager = Manager("kube-controller-manager")
    job.declare(manager)
    return Component(manager)


async def test_a_job_fails_by_an_exit_code_of_its_pods() -> None:
    codes = {"containerName": "c", "operator": "In", "values": [42]}
    policy = {"rules": [{"action": "FailJob", "onExitCodes": codes}]}
    async with simulated(others=(jobs(),), on=server(rbac=True)) as api:
        found = await finished(api, "exit 42", podFailurePolicy=policy)
        reasons = {each["type"]: each["reason"] for each in found["status"]["conditions"]}
        assert reasons["Failed"] == "PodFailurePolicy"
        assert found["status"]["failed"] == 1


async def test_a_job_fails_by_index() -> None:
    async with simulated(others=(jobs(),), on=server(rbac=True)) as api:
        found = await finished(
            api,
            "exit $JOB_COMPLETION_INDEX",
            completions=3,
            parallelism=3,
            completionMode="Indexed",
            backoffLimitPerIndex=0,
        )
        status = found["status"]
        assert (status["completedIndexes"], status["failedIndexes"]) == ("0", "1,2")
