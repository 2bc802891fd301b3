"""Programs find services by the names that pods use."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from quintant.agents.dns.message import A, DnsQuestion, ResourceRecord
from quintant.agents.dns.resolver import (
    SEARCH_VARIABLE,
    SERVER_VARIABLE,
    ClusterResolver,
    SocketAddress,
)
from quintant.cluster.host.loopback import FIRST
from quintant.cluster.kubeproxy.component import ServiceNetwork
from quintant.cluster.kubeproxy.dns.server import serve_dns
from quintant.cluster.kubeproxy.dns.zone import Zone, service_records
from quintant.cluster.kubeproxy.proxy import running_proxy
from quintant.cluster.kubeproxy.routes import RealServer, VirtualServer
from quintant.core.object import Request
from unit.cluster.controllers.service_samples import service

BASE = "web.default.svc.cluster.local"


def mapped(virtual_server: VirtualServer) -> RealServer:
    return RealServer(virtual_server.address, virtual_server.port + 20000)


@pytest.fixture
async def network() -> AsyncIterator[ServiceNetwork]:
    zone = Zone()
    zone.put(
        Request("web", "default"), service_records(service(cluster_ip="127.96.0.20"), (), mapped)
    )
    external = service("out", type="ExternalName", external_name="localhost")
    other = service("alias", type="ExternalName", external_name=BASE)
    zone.put(Request("alias", "default"), service_records(other, (), mapped))
    loop = service("loop", type="ExternalName", external_name="loop.default.svc.cluster.local")
    zone.put(Request("loop", "default"), service_records(loop, (), mapped))
    zone.put(Request("out", "default"), service_records(external, (), mapped))
    zone.put(Request("many"), [ResourceRecord("many.cluster.local", A, f"10.0.{n // 250}.{n % 250}")
                               for n in range(600)])  # fmt: skip
    async with running_proxy() as proxy, serve_dns(zone) as place:
        yield ServiceNetwork(proxy, zone, place, FIRST)


@pytest.mark.parametrize("host", ["web", "web.default", "web.default.svc", BASE, f"{BASE}.", "WEB"])
async def test_short_and_long_names_are_found(network: ServiceNetwork, host: str) -> None:
    names = ClusterResolver.find(network.environment("default"))
    assert names is not None
    assert await names.resolve(host, 80) == [SocketAddress("127.96.0.20", 20080)]
    assert await asyncio.to_thread(names.lookup, host, 80) == [SocketAddress("127.96.0.20", 20080)]
    assert await names.resolve(host, 7) == [SocketAddress("127.96.0.20", 7)]


@pytest.mark.parametrize("host", ["example.com", "other", "web.other", "127.0.0.1", "::1", ""])
async def test_what_is_not_of_the_cluster_is_left_to_others(
    network: ServiceNetwork, host: str
) -> None:
    names = ClusterResolver.find(network.environment("default"))
    assert names is not None
    assert await names.resolve(host, 80) == []


async def test_a_name_may_stand_for_another_of_the_cluster(network: ServiceNetwork) -> None:
    names = ClusterResolver.find(network.environment("default"))
    assert names is not None
    assert await names.resolve("alias", 80) == [SocketAddress("127.96.0.20", 20080)]
    (endless,) = await names.resolve("loop", 80)
    assert endless.address == "loop.default.svc.cluster.local"


async def test_namespace_of_the_pod_comes_first(network: ServiceNetwork) -> None:
    names = ClusterResolver.find(network.environment("elsewhere"))
    assert names is not None
    assert await names.resolve("web", 80) == []
    assert await names.resolve("web.default", 80) == [SocketAddress("127.96.0.20", 20080)]


async def test_long_answers_come_over_tcp(network: ServiceNetwork) -> None:
    names = ClusterResolver(SocketAddress(*network.dns_server))
    assert len(await names.resolve("many", 80)) == 600
    assert len(await asyncio.to_thread(names.lookup, "many", 80)) == 600


async def test_nameserver_that_is_gone_is_as_none(network: ServiceNetwork) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as nobody:
        nobody.bind(("127.0.0.1", 0))
        place = SocketAddress(*nobody.getsockname())
    assert await ClusterResolver(place).resolve("web", 80) == []


def test_without_variables_there_are_no_names() -> None:
    assert ClusterResolver.find({}) is None
    assert ClusterResolver.find({SERVER_VARIABLE: "nonsense"}) is None


PROGRAM = """
import asyncio, socket
print(socket.getaddrinfo("web", 80, type=socket.SOCK_STREAM)[0][4])
async def main():
    loop = asyncio.get_running_loop()
    print((await loop.getaddrinfo("web.default", 80, type=socket.SOCK_STREAM))[0][4])
asyncio.run(main())
print(socket.getaddrinfo("out", 80, family=socket.AF_INET, type=socket.SOCK_STREAM)[0][4])
print(socket.getaddrinfo("127.0.0.1", 80, type=socket.SOCK_STREAM)[0][4])
"""


async def test_any_python_program_of_a_pod_knows_the_names(network: ServiceNetwork) -> None:
    env = {**os.environ, **network.environment("default")}
    env["PYTHONPATH"] += os.pathsep + os.environ.get("PYTHONPATH", "")
    running = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PROGRAM, env=env,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    said, complaints = await running.communicate()
    assert not complaints
    assert said.decode().splitlines() == [
        "('127.96.0.20', 20080)",
        "('127.96.0.20', 20080)",
        "('127.0.0.1', 80)",
        "('127.0.0.1', 80)",
    ]


async def test_programs_whose_python_lacks_quintant_know_the_names(network: ServiceNetwork) -> None:
    code = "import socket; print(socket.getaddrinfo('web', 80)[0][4])"
    env = {**os.environ, **network.environment("default")}
    said = []
    # -S leaves out what is installed; the second one has no names to learn.
    for start in ("import sitecustomize", "pass"):
        running = await asyncio.create_subprocess_exec(
            *(sys.executable, "-S", "-c", f"{start}; {code}"),
            env=env,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        said.append((await running.communicate())[0].decode())
    assert said[0].strip() == "('127.96.0.20', 20080)"
    assert said[1] == ""


async def test_other_customizations_of_a_program_are_run_as_well(
    network: ServiceNetwork, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('own')")
    env = {**os.environ, **network.environment("default")}
    env["PYTHONPATH"] += os.pathsep + str(tmp_path)
    running = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "print('ran')", env=env, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await running.communicate()
    assert said.split() == [b"own", b"ran"]


def test_names_are_searched_as_pods_search_them(network: ServiceNetwork) -> None:
    environment = network.environment("a")
    assert environment[SEARCH_VARIABLE] == "a.svc.cluster.local svc.cluster.local cluster.local"
    assert network.zone.answer(DnsQuestion("cluster.local", A)).records == ()
