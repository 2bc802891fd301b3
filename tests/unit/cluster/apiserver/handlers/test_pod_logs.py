"""pods/log: which container, which options, and what is refused, in a real server's words."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from quintant.cluster.apiserver.kubelet_client.log_provider import LogOptions, LogsUnavailable
from unit.cluster.api import PODS, Api, JsonObject, api


class Library:
    """Somebody who has output."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, LogOptions]] = []

    def has(self, uid: str) -> bool:
        return True

    def read(self, uid: str, container: str, options: LogOptions) -> AsyncGenerator[bytes, None]:
        self.asked.append((container, options))
        if options.previous:
            raise LogsUnavailable("nothing before")
        return _words()


async def _words() -> AsyncGenerator[bytes, None]:
    yield b"hello "
    yield b"world\n"


def pod(name: str, *containers: str, init: tuple[str, ...] = (), node: str = "") -> JsonObject:
    spec: JsonObject = {
        "containers": [{"name": each, "image": "i"} for each in containers],
        "initContainers": [{"name": each, "image": "i"} for each in init],
    }
    return {"metadata": {"name": name}, "spec": spec | ({"nodeName": node} if node else {})}


async def filled() -> tuple[Api, Library]:
    server, library = api(), Library()
    server.server.logs.providers.append(library)
    await server.create("/api/v1/nodes", {"metadata": {"name": "n"}})
    for each in (
        pod("one", "main"),
        pod("two", "a", "b", init=("x",)),
        pod("bound", "main", node="n"),
        pod("lost", "main", node="nowhere"),
    ):
        await server.create(PODS, each)
    return server, library


async def test_output_is_plain_text_from_whoever_has_it() -> None:
    server, library = await filled()
    reply = await server.send("GET", f"{PODS}/bound/log", tailLines="3", follow="true")
    assert (reply.status, reply.body) == (200, b"hello world\n")
    assert reply.headers["content-type"] == "text/plain"
    assert library.asked == [("main", LogOptions(tail=3, follow=True))]


async def test_a_pod_without_a_node_has_no_content() -> None:
    server, _ = await filled()
    reply = await server.send("GET", f"{PODS}/one/log")
    assert (reply.status, reply.body) == (204, b"")
    assert "content-type" not in reply.headers


@pytest.mark.parametrize(
    ("name", "query", "code", "message"),
    [
        (
            "two",
            {},
            400,
            "a container name must be specified for pod two, choose one of: [x a b]",
        ),
        ("one", {"container": "z"}, 400, "container z is not valid for pod one"),
        ("none", {}, 404, 'pods "none" not found'),
        ("lost", {}, 404, 'pods "nowhere" not found'),
        ("bound", {"previous": "true"}, 400, "nothing before"),
        ("one", {"tailLines": "x"}, 400, 'strconv.ParseInt: parsing "x": invalid syntax'),
        (
            "one",
            {"sinceTime": "x"},
            400,
            'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
        ),
        (
            "one",
            {"tailLines": "-1", "limitBytes": "0"},
            422,
            'PodLogOptions "one" is invalid: [tailLines: Invalid value: -1: must be greater than '
            "or equal to 0, limitBytes: Invalid value: 0: must be greater than 0]",
        ),
        (
            "one",
            {"sinceSeconds": "5", "sinceTime": "2020-01-01T00:00:00Z"},
            422,
            'PodLogOptions "one" is invalid: []: Forbidden: at most one of `sinceTime` or '
            "`sinceSeconds` may be specified",
        ),
        (
            "one",
            {"sinceSeconds": "0"},
            422,
            'PodLogOptions "one" is invalid: sinceSeconds: Invalid value: 0: '
            "must be greater than 0",
        ),
        (
            "one",
            {"stream": "Stdout"},
            422,
            'PodLogOptions "one" is invalid: stream: Forbidden: may not be specified',
        ),
    ],
)
async def test_what_makes_no_sense_is_refused(
    name: str, query: dict[str, str], code: int, message: str
) -> None:
    server, _ = await filled()
    refusal = await server.ask("GET", f"{PODS}/{name}/log", None, code, **query)
    assert refusal["message"] == message


async def test_the_log_of_a_simulated_pod_is_empty_and_a_warning_says_why() -> None:
    server, _ = await filled()
    server.server.logs.providers.clear()
    path = f"{PODS}/bound"
    refusal = await server.get(f"{path}/log", code=400)
    waits = 'container "main" in pod "bound" is waiting to start: ContainerCreating'
    assert refusal["message"] == waits
    await server.merge(f"{path}/status", {"status": {"reason": "Simulated"}})
    reply = await server.send("GET", f"{path}/log", follow="true")
    assert (reply.status, reply.body) == (200, b"")
    assert reply.headers["content-type"] == "text/plain"
    assert reply.headers["warning"] == '299 - "pod bound is simulated: it prints nothing"'
    refusal = await server.get(f"{path}/log", code=400, previous="true")
    assert refusal["message"] == 'previous terminated container "main" in pod "bound" not found'


async def test_logs_are_offered_and_cannot_be_written() -> None:
    server, _ = await filled()
    offered = (await server.get("/api/v1"))["resources"]
    (log,) = [each for each in offered if each["name"] == "pods/log"]
    assert (log["kind"], log["verbs"]) == ("Pod", ["get"])
    assert (await server.send("POST", f"{PODS}/one/log", {})).status == 405
