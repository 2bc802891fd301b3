"""pods/exec before a session begins: who is meant, what is refused, and how many there may be."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from quintant.client.transport import ApiRequest, ApiResponse
from quintant.cluster.apiserver.golang.query import read_pairs
from quintant.cluster.apiserver.handlers.pod_streams import SESSIONS, PodStream, stream_options
from quintant.cluster.apiserver.server.server import ApiServer
from unit.cluster.api import PODS, Api, JsonObject, pod, server
from unit.cluster.apiserver.streaming.fakes import FakeRuntime

UPGRADE = {
    "connection": "Upgrade",
    "upgrade": "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "MDEyMzQ1Njc4OWFiY2RlZg==",
    "sec-websocket-protocol": "v5.channel.k8s.io",
}
NODES = "/api/v1/nodes"


async def placed(reason: str = "") -> tuple[ApiServer, Api]:
    """A server with a pod that has a node."""
    embedded = server()
    client = Api(embedded)
    await client.create(NODES, {"metadata": {"name": "n"}})
    await client.create(PODS, {**pod("p"), "spec": {**pod("p")["spec"], "nodeName": "n"}})
    if reason:
        await client.merge(f"{PODS}/p/status", {"status": {"reason": reason}})
    return embedded, client


async def ask(
    embedded: ApiServer, query: str = "command=ls&stdout=1", *, sub: str = "exec", **headers: str
) -> ApiResponse | PodStream:
    """What comes of a request for a session."""
    sent = {**UPGRADE, **{name.replace("_", "-"): value for name, value in headers.items()}}
    call = ApiRequest("GET", f"{PODS}/p/{sub}", read_pairs(query), sent)
    answer = await embedded.handle(call)
    assert isinstance(answer, ApiResponse | PodStream)
    return answer


def told(answer: Any) -> tuple[int, str]:
    document: JsonObject = msgspec.json.decode(answer.body)
    return answer.status, document["message"]


async def test_a_session_is_negotiated() -> None:
    embedded, _ = await placed()
    embedded.streams.runtimes.append(FakeRuntime())
    answer = await ask(embedded)
    assert isinstance(answer, PodStream)
    assert answer.headers == {
        "Upgrade": "websocket",
        "Sec-WebSocket-Accept": "BACScCJPNqyz+UBoqMH89VmURoA=",
        "Sec-WebSocket-Protocol": "v5.channel.k8s.io",
    }


@pytest.mark.parametrize(
    ("query", "headers", "message"),
    [
        ("command=ls", {}, "you must specify at least 1 of stdin, stdout, stderr"),
        ("stdout=1", {}, "you must specify at least one command for the container"),
        ("command=ls&stdout=1", {"connection": "close"}, "Upgrade request required"),
        (
            "command=ls&stdout=1",
            {"upgrade": "h2c"},
            "unable to upgrade: h2c is not served by this cluster",
        ),
        (
            "command=ls&stdout=1",
            {"upgrade": "SPDY/3.1", "x_stream_protocol_version": "channel.k8s.io"},
            "requested protocol(s) are not supported: [channel.k8s.io]; "
            "supports [v4.channel.k8s.io]",
        ),
        (
            "command=ls&stdout=1",
            {"sec_websocket_version": "8"},
            "websocket: the client is not using version 13",
        ),
        (
            "command=ls&stdout=1",
            {"sec_websocket_key": "short"},
            "websocket: the key is not 16 bytes in base64",
        ),
        (
            "command=ls&stdout=1",
            {"sec_websocket_protocol": "a, b"},
            "requested protocol(s) are not supported: [a b]; "
            "supports [v5.channel.k8s.io v4.channel.k8s.io channel.k8s.io]",
        ),
    ],
)
async def test_what_makes_no_session_is_refused(
    query: str, headers: dict[str, str], message: str
) -> None:
    embedded, _ = await placed()
    embedded.streams.runtimes.append(FakeRuntime())
    assert told(await ask(embedded, query, **headers)) == (400, message)


async def test_what_is_wrong_with_the_pod_is_said_before_anything_about_protocols() -> None:
    embedded, _ = await placed()
    answer = await ask(embedded, "container=x", upgrade="SPDY/3.1")
    assert told(answer) == (400, "container x is not valid for pod p")


async def test_a_container_that_does_not_run_is_refused_in_a_kubelets_words() -> None:
    embedded, _ = await placed()
    answer = await ask(embedded)
    assert isinstance(answer, ApiResponse)
    assert (answer.status, answer.body) == (500, b'container not found ("main")\n')
    runtime = FakeRuntime()
    runtime.missing = 'container not found ("main")'
    embedded.streams.runtimes.append(runtime)
    again = await ask(embedded)
    assert isinstance(again, ApiResponse)
    assert (again.status, again.body) == (500, answer.body)


async def test_a_simulated_pod_has_no_program() -> None:
    embedded, _ = await placed("Simulated")
    assert told(await ask(embedded)) == (
        400,
        "pod p is simulated: no program runs in it that one could connect with",
    )


async def test_a_simulated_pod_is_not_debugged() -> None:
    """There is no program that a debugger would run beside, and none would run it."""
    _, client = await placed("Simulated")
    debugger = {"name": "debugger", "image": "tools"}
    refused = await client.merge(
        f"{PODS}/p/ephemeralcontainers", {"spec": {"ephemeralContainers": [debugger]}}, code=400
    )
    assert refused["message"] == (
        "pod p is simulated: no program runs in it that one could connect with"
    )
    assert "ephemeralContainers" not in (await client.get(f"{PODS}/p"))["spec"]


async def test_there_are_so_many_sessions_at_once_and_no_more() -> None:
    embedded, _ = await placed()
    embedded.streams.runtimes.append(FakeRuntime())
    opened = [await ask(embedded) for _ in range(SESSIONS)]
    code, message = told(await ask(embedded))
    assert (code, message) == (
        429,
        "100 connections with containers are open, and there may be no more: "
        "end one, or try again later",
    )
    first = opened[0]
    assert isinstance(first, PodStream)
    embedded.leave(first)
    assert isinstance(await ask(embedded), PodStream)


def test_every_word_of_a_command_counts() -> None:
    query = "command=sh&command=-c&command=echo+a%26b&stdout=true&container=c"
    call = ApiRequest("GET", "/", read_pairs(query))
    assert stream_options(call, "exec") == {
        "command": ["sh", "-c", "echo a&b"],
        "container": "c",
        "stdout": True,
    }


async def test_who_has_no_connection_has_no_session() -> None:
    embedded, client = await placed()
    embedded.streams.runtimes.append(FakeRuntime())
    for _ in range(SESSIONS + 1):
        refused = await client.get(
            f"{PODS}/p/exec", code=400, command="ls", stdout="true", headers=UPGRADE
        )
        assert refused["message"] == "Upgrade request required"


@pytest.mark.parametrize("sub", ["exec", "attach", "portforward"])
async def test_older_clients_go_on_with_spdy(sub: str) -> None:
    embedded, _ = await placed()
    embedded.streams.runtimes.append(FakeRuntime())
    spoken = "portforward.k8s.io" if sub == "portforward" else "v4.channel.k8s.io"
    offered = {"upgrade": "SPDY/3.1", "x_stream_protocol_version": f"{spoken},channel.k8s.io"}
    answer = await ask(embedded, sub=sub, **offered)
    assert isinstance(answer, PodStream)
    assert answer.headers == {"Upgrade": "SPDY/3.1", "X-Stream-Protocol-Version": spoken}


async def test_ports_are_forwarded_through_a_websocket() -> None:
    embedded, _ = await placed()
    embedded.streams.runtimes.append(FakeRuntime())
    tunnel = "SPDY/3.1+portforward.k8s.io"
    answer = await ask(embedded, "ports=80", sub="portforward", sec_websocket_protocol=tunnel)
    assert isinstance(answer, PodStream)
    assert answer.headers["Sec-WebSocket-Protocol"] == tunnel


async def test_a_pod_that_does_not_run_has_no_ports() -> None:
    embedded, _ = await placed()
    answer = await ask(embedded, sub="portforward")
    assert isinstance(answer, ApiResponse)
    assert (answer.status, answer.body) == (500, b"pod not found\n")
