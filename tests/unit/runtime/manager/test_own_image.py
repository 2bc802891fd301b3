"""An operator reads the image of its own pod, and goes on without it where it cannot."""

from __future__ import annotations

import pytest

from quintant.api.core import Container, Pod, PodSpec
from quintant.client.transport import ApiRequest, ApiResponse
from quintant.operators.portal.options import Options as PortalOptions
from quintant.operators.shifu.options import Options as ShifuOptions
from quintant.runtime.manager.own_image import own_pod, read_own_image
from quintant.runtime.manager.permissions import Permission
from quintant.testing import InProcessCluster, named

RENAMED = "registry.example.com/edge/programs:2"
ENVIRON = {"POD_NAME": "operator-1"}


def operator_pod() -> Pod:
    beside = Container(name="mesh", image="mesh:1")
    return Pod(
        metadata=named("operator-1"),
        spec=PodSpec(containers=(beside, Container(name="operator", image=RENAMED))),
    )


async def test_the_image_is_that_of_the_operators_own_container(cluster: InProcessCluster) -> None:
    await cluster.create(operator_pod())
    found = await read_own_image(cluster.admin, "default", "operator", ENVIRON)
    assert found == RENAMED


async def test_a_process_that_is_no_pod_has_no_image(cluster: InProcessCluster) -> None:
    assert await read_own_image(cluster.admin, "default", "operator", {}) == ""


@pytest.mark.parametrize("container", ["operator", "another"])
async def test_an_image_that_cannot_be_read_stops_nothing(
    cluster: InProcessCluster, container: str
) -> None:
    if container == "another":
        await cluster.create(operator_pod())
    assert await read_own_image(cluster.admin, "default", container, ENVIRON) == ""


async def test_a_server_that_never_answers_is_given_up() -> None:
    class Silent:
        async def request(self, call: ApiRequest) -> ApiResponse:
            raise TimeoutError

        async def close(self) -> None: ...

    silent = Silent()
    assert await read_own_image(silent, "default", "operator", ENVIRON) == ""  # type: ignore[arg-type]


def test_it_takes_one_right_in_the_own_namespace() -> None:
    assert own_pod("home") == {Permission("", "pods", "get", True, "home")}


def test_the_own_image_starts_our_programs_whatever_it_is_called() -> None:
    tunnels = PortalOptions(tunnel_image=RENAMED, own_image=RENAMED).tunnels
    assert (tunnels.image, tunnels.command[0]) == (RENAMED, "quintant")
    agent = ShifuOptions(agent_image=RENAMED, own_image=RENAMED).agent
    assert (agent.image, agent.command[0]) == (RENAMED, "quintant")
    assert PortalOptions(tunnel_image=RENAMED).tunnels.command == ()
    assert ShifuOptions(agent_image=RENAMED).agent.command == ()
