"""What the simulator of Infrastructure Manager refuses; nothing is launched."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from typing import Any

import pytest

from quintant.agents.imsimulator.api import MOST_INFRASTRUCTURES, SimulatedManager
from quintant.agents.imsimulator.options import SimulatorOptions
from quintant.http.connection import Connection
from quintant.http.head import parse_request_head
from quintant.http.request import Request
from quintant.http.response import Response

USER = '[{"type": "InfrastructureManager", "username": "a"}, {"type": "Dummy", "id": "lab"}]'
TEMPLATE = json.dumps(
    {
        "tosca_definitions_version": "tosca_simple_yaml_1_0",
        "topology_template": {"node_templates": {"front": {"type": "tosca.nodes.Compute"}}},
    }
)


def _never(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    """A cloud that never begins."""
    work.close()
    return asyncio.ensure_future(asyncio.sleep(0))


async def ask(
    manager: SimulatedManager, line: str, body: str = "", user: str = USER
) -> tuple[int, Any]:
    """Status and document of an answer."""
    head = f"{line} HTTP/1.1\r\nhost: im\r\nauthorization: {user}\r\ncontent-length: {len(body)}"
    connection = Connection(lambda _: asyncio.ensure_future(asyncio.sleep(0)))
    connection.unread(body.encode())
    request = Request(parse_request_head(f"{head}\r\n\r\n".encode(), 100), connection)
    answer: Response = await manager.handle(request)
    return answer.status, json.loads(answer.body) if answer.body else None


@pytest.fixture
def manager() -> SimulatedManager:
    return SimulatedManager(SimulatorOptions(), _never)


async def test_it_says_that_it_is_a_simulator(manager: SimulatedManager) -> None:
    assert await ask(manager, "GET /version") == (200, {"version": "2.0.0+imsimulator"})


@pytest.mark.parametrize("user", ["", "nonsense", "[]", "{}", "[1]", '[{"type": "Dummy"}]'])
async def test_who_does_not_say_who_he_is_is_refused(manager: SimulatedManager, user: str) -> None:
    status, said = await ask(manager, "GET /infrastructures", user=user)
    assert (status, said["code"]) == (401, 401)


async def test_what_is_no_template_is_refused_in_the_words_of_im(manager: SimulatedManager) -> None:
    status, said = await ask(manager, "POST /infrastructures?async=true", "not: tosca")
    assert status == 400
    assert said["message"].startswith("Error parsing request body: ")


async def test_dry_run_estimates_for_the_cloud_that_is_asked(manager: SimulatedManager) -> None:
    status, said = await ask(manager, "POST /infrastructures?dry_run=true", TEMPLATE)
    assert status == 200
    assert said["lab"]["compute"] == [{"cpuCores": 1, "memoryInMegabytes": 1024}]


async def test_infrastructure_is_pending_and_cannot_be_deleted_before_it_is_launched(
    manager: SimulatedManager,
) -> None:
    _, said = await ask(manager, "POST /infrastructures?async=true", TEMPLATE)
    path = said["uri"].removeprefix("http://im")
    pending = {"state": {"state": "pending", "vm_states": {}}}
    assert await ask(manager, f"GET {path}/state") == (200, pending)
    assert (await ask(manager, f"GET {path}/outputs"))[1] == {"outputs": {"kubeconfig": None}}
    assert (await ask(manager, f"DELETE {path}"))[0] == 409
    assert (await ask(manager, f"GET {path}/vms/0"))[0] == 404
    assert (await ask(manager, f"GET {path}/nothing"))[0] == 404


async def test_there_is_an_end_to_what_one_machine_carries(manager: SimulatedManager) -> None:
    line = "POST /infrastructures?async=true"
    statuses = [(await ask(manager, line, TEMPLATE))[0] for _ in range(MOST_INFRASTRUCTURES + 1)]
    assert statuses == [200] * MOST_INFRASTRUCTURES + [400]
