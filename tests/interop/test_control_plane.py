"""Kubernetes' own controllers and scheduler, unmodified, before `quintant up --api-only`.

They make and place pods for ten minutes. What they cannot list they say in their logs, again and
again: nothing of that may be there twice.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio

from conformance.target import Target, until
from conformance.workloads import deployment
from envtest.binaries import MANAGER
from envtest.build import provide
from foreign.errors import ProgramError
from interop.conftest import Aloud
from interop.served import Served, up
from realcluster.programs import SCHEDULER
from unit.cluster.api import JsonObject

LASTS_SECONDS = 600.0
"""What reflectors that fail do by then: they try again after a minute at most."""
PODS = 3
NODE: JsonObject = {"metadata": {"name": "n", "labels": {"kubernetes.io/hostname": "n"}}}
ROOM = {"cpu": "4", "memory": "8Gi", "pods": "110"}
_LIST_ERROR = re.compile(r"failed to (?:list|watch) \*?([\w.]+)")


@pytest_asyncio.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    """An API server alone, in a process of its own."""
    async with up(tmp_path, "--api-only") as found:
        yield found


@pytest.fixture
def programs(aloud: Aloud) -> Mapping[str, Path]:
    """Both programs, built where they are missing."""
    try:
        with aloud():
            return {
                MANAGER: provide(os.environ, (MANAGER,)) / MANAGER,
                SCHEDULER.name: SCHEDULER.provide(os.environ),
            }
    except ProgramError as error:
        pytest.skip(str(error))


@contextmanager
def at_work(programs: Mapping[str, Path], served: Served) -> Iterator[dict[str, Path]]:
    """Both of them at work; the logs of each."""
    flags = (f"--kubeconfig={served.kubeconfig}", "--secure-port=0", "--leader-elect=true")
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(served.running(name, path, *flags))
            for name, path in programs.items()
        }


async def ready_node(target: Target) -> None:
    """A node that says so, as a kubelet does."""
    await target.create("/api/v1/nodes", NODE)
    await heartbeat(target)


async def heartbeat(target: Target) -> None:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    condition = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
    status = {
        "allocatable": ROOM,
        "capacity": ROOM,
        "conditions": [{**condition, "lastHeartbeatTime": now, "lastTransitionTime": now}],
    }
    await target.merge("/api/v1/nodes/n/status", {"status": status})


async def placed(target: Target) -> list[str]:
    """The nodes of the pods that have one; those that end wait for a kubelet, and there is none."""
    listed = await target.get(target.path("pods"))
    staying = [each for each in listed["items"] if "deletionTimestamp" not in each["metadata"]]
    return [each["spec"]["nodeName"] for each in staying if "nodeName" in each["spec"]]


def list_errors(log: Path) -> Counter[str]:
    """What a program could not list or watch, and how often it said so."""
    return Counter(_LIST_ERROR.findall(log.read_text(errors="replace")))


async def test_kubernetes_own_control_plane_works_for_ten_minutes_without_a_repeated_error(
    served: Served, programs: Mapping[str, Path]
) -> None:
    target = served.target
    with at_work(programs, served) as logs:
        await ready_node(target)
        body = deployment("a", replicas=PODS)
        await target.create(target.path("deployments", api="apps/v1"), body)
        nodes = await until(lambda: placed(target), lambda found: len(found) == PODS)
        assert nodes == ["n"] * PODS
        end = asyncio.get_running_loop().time() + LASTS_SECONDS
        scale = target.path("deployments", "a", "apps/v1", "scale")
        replicas = PODS
        while asyncio.get_running_loop().time() < end:
            await asyncio.sleep(10)
            await heartbeat(target)
            replicas = 2 * PODS - replicas + 1
            await target.merge(scale, {"spec": {"replicas": replicas}})
        nodes = await until(lambda: placed(target), lambda found: len(found) == replicas)
        assert nodes == ["n"] * replicas
        for name, log in logs.items():
            repeated = {what: times for what, times in list_errors(log).items() if times > 1}
            assert repeated == {}, name
