"""Requests that are as large or as costly as they may be: what they are answered, and who waits.

A process serves the embedded cluster, sends it one bad request after another, and watches its loop;
then it sends a document of ordinary size while it is at work on the most costly one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
from aiohttp import ClientSession

from benchmarks.report import Budget, Table
from benchmarks.sizes import Sizes
from benchmarks.subprocesses import answer
from quintant.cluster.apiserver.server.https import serve
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.core.gc import freeze_heap

BUDGET_MS = 50.0
"""A person does not notice it, and no lease is lost by it."""
TICK_SECONDS = 0.002
HEAD_START_SECONDS = 0.5
"""Of a huge document before an ordinary one is sent: by then it is being read."""
CREATED = 201
CMS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
FOOS = "/apis/example.com/v1/namespaces/default/foos"
JSON, YAML = "application/json", "application/yaml"
MERGE, PATCH = "application/merge-patch+json", "application/json-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
METHOD = (
    "The embedded server over HTTP, one request after another, each as bad "
    "as its size allows (3 MB). A stall is the CPU time that the server's process took between two "
    "turns of its loop, threads included: what everybody else would wait on an idle machine, "
    "whatever else runs here."
)
BEHIND = (
    "A ConfigMap of 100 KB is created by itself, and while the same server reads 3 MB of YAML, "
    "which takes it seconds: the CPU time of the process from request to answer."
)
WAIT_BUDGET_SECONDS = 1.0
"""Of a document that is not huge itself, whatever others have sent."""
RULE = "self.all(a, self.all(b, self.all(c, a + b + c >= 0)))"


class Asked(msgspec.Struct):
    """A request."""

    name: str
    method: str
    path: str
    body: bytes
    media: str = JSON


class Outcome(msgspec.Struct):
    """What a request came to: the answer's code, and the longest stall in milliseconds."""

    name: str
    code: int
    stall: float


class Found(msgspec.Struct):
    """What was measured: each request, and the seconds of a document alone and behind another."""

    outcomes: list[Outcome]
    alone: float
    behind: float


def run(sizes: Sizes, say: Callable[[str], None]) -> Iterator[Table]:
    """Send everything once."""
    say("hostile")
    measured = answer("hostile", to=Found)
    found = measured.outcomes
    worst = max(each.stall for each in found)
    yield Table(
        "Hostile requests",
        METHOD,
        ("request", "answer", "longest stall"),
        [(each.name, str(each.code), f"{each.stall:.0f} ms") for each in found],
        (Budget(f"no stall beyond {BUDGET_MS:.0f} ms", f"{worst:.0f} ms", worst <= BUDGET_MS),),
    )
    yield Table(
        "Behind a huge document",
        BEHIND,
        ("a document of 100 KB", "answered after"),
        [
            ("alone", f"{measured.alone:.2f} s"),
            ("while 3 MB of YAML are read", f"{measured.behind:.2f} s"),
        ],
        (
            Budget(
                f"{WAIT_BUDGET_SECONDS:g} s at most behind others",
                f"{measured.behind:.2f} s",
                measured.behind <= WAIT_BUDGET_SECONDS,
            ),
        ),
    )


class Meter:
    """The CPU time between two turns of the loop, at most."""

    def __init__(self) -> None:
        self.worst = 0.0

    async def watch(self) -> None:
        """Look until cancelled."""
        while True:
            before = time.process_time()
            await asyncio.sleep(TICK_SECONDS)
            self.worst = max(self.worst, 1_000 * (time.process_time() - before))


async def _measure() -> Found:
    """Serve and ask in one process: reading what was prepared takes next to nothing."""
    meter = Meter()
    async with serve(ApiServer()) as url, ClientSession(url) as session:
        for asked in _before():
            await _code(session, asked)
        prepared = list(_hostile())
        freeze_heap()
        watching = asyncio.ensure_future(meter.watch())
        found = []
        for asked in prepared:
            meter.worst = 0.0
            code = await _code(session, asked)
            found.append(Outcome(asked.name, code, meter.worst))
        watching.cancel()
        alone = await _seconds(session, _ordinary("alone"))
        huge = asyncio.ensure_future(_code(session, Asked("", "POST", CMS, _huge(), YAML)))
        await asyncio.sleep(HEAD_START_SECONDS)
        behind = await _seconds(session, _ordinary("behind"))
        assert not huge.done(), "what is waited behind has to be at work"
        await huge
    return Found(found, alone, behind)


async def _seconds(session: ClientSession, asked: Asked) -> float:
    """The CPU time of the process until a request is answered."""
    before = time.process_time()
    assert await _code(session, asked) == CREATED
    return time.process_time() - before


def _ordinary(name: str) -> Asked:
    data = {f"k{at}": "v" * 20 for at in range(3_000)}
    return Asked("", "POST", CMS, _json({"metadata": {"name": name}, "data": data}))


def _huge() -> bytes:
    return b"x: [" + b"a," * 1_400_000 + b"]"


async def _code(session: ClientSession, asked: Asked) -> int:
    headers = {"content-type": asked.media}
    async with session.request(
        asked.method, asked.path, data=asked.body, headers=headers, params={"fieldManager": "me"}
    ) as reply:
        await reply.read()
        return reply.status


def _before() -> Iterator[Asked]:
    """What hostile requests are about."""
    numbers = {
        "type": "array",
        "maxItems": 60,
        "items": {"type": "integer"},
        "x-kubernetes-validations": [{"rule": RULE}],
    }
    keyed = {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k"],
        "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}}},
    }
    matched = {"type": "string", "pattern": "^(a+)+$"}
    fields = {"numbers": numbers, "keyed": keyed, "matched": matched}
    yield Asked("", "POST", CRDS, _json(_definition(fields)))
    yield Asked("", "POST", CMS, _json({"metadata": {"name": "a"}}))
    spec = {"containers": [{"name": "c", "image": "i"}]}
    yield Asked("", "POST", PODS, _json({"metadata": {"name": "a"}, "spec": spec}))


def _hostile() -> Iterator[Asked]:
    named = {"metadata": {"name": "b"}}
    many = {f"k{at}": "v" for at in range(100_000)}
    yield Asked("100,000 keys", "POST", CMS, _json({**named, "data": many}))
    yield Asked("JSON that ends too soon", "POST", CMS, _json({"data": many})[:-1])
    lists = b'{"metadata":{"name":"b"},"x":[' + b",".join([b"[]"] * 900_000) + b"]}"
    yield Asked("900,000 empty lists", "POST", CMS, lists)
    yield Asked("1,500,000 levels", "POST", CMS, b"[" * 1_500_000 + b"]" * 1_500_000)
    text = b"".join(b"  k%d: v\n" % at for at in range(100_000))
    yield Asked("YAML of 100,000 keys", "POST", CMS, b"data:\n" + text, YAML)
    bomb = b"a: &a [x,x]\n" + b"".join(
        b"%c: &%c [*%c,*%c]\n" % (at + 1, at + 1, at, at) for at in range(97, 121)
    )
    yield Asked("YAML bomb", "POST", CMS, bomb, YAML)
    yield Asked("merge patch of 100,000 keys", "PATCH", f"{CMS}/a", _json({"data": many}), MERGE)
    operations = [{"op": "add", "path": "/data", "value": {}}] * 10_000
    yield Asked("10,000 operations", "PATCH", f"{CMS}/a", _json(operations), PATCH)
    containers = {
        "spec": {"containers": [{"name": f"c{at}", "image": "i"} for at in range(50_000)]}
    }
    yield Asked("50,000 containers", "PATCH", f"{PODS}/a", _json(containers), STRATEGIC)
    yield Asked("rule beyond its budget", "POST", FOOS, _foo({"numbers": [1] * 60}))
    yield Asked("100,000 equal keys", "POST", FOOS, _foo({"keyed": [{"k": "a"}] * 100_000}))
    yield Asked("pattern of doom", "POST", FOOS, _foo({"matched": "a" * 1_000_000 + "b"}))
    labels = {f"-{at}": "-" for at in range(200_000)}
    bad = _json({"metadata": {"name": "b", "labels": labels}})
    yield Asked("200,000 bad labels", "POST", CMS, bad)
    yield Asked("1,400,000 items of YAML", "POST", CMS, _huge(), YAML)
    selector = ",".join(f"!a{at}" for at in range(100_000))
    yield Asked("selector of 100,000 terms", "GET", f"{CMS}?labelSelector={selector}", b"")
    properties = {f"a{at}": {"type": "string", "default": "x"} for at in range(3_000)}
    yield Asked("definition of 3,000 fields", "POST", CRDS, _json(_definition(properties, "large")))
    many_versions = _definition({}, "versions")
    (version,) = many_versions["spec"]["versions"]
    many_versions["spec"]["versions"] += [
        {**version, "name": f"v{at}", "storage": False} for at in range(2, 3_000)
    ]
    yield Asked("definition of 3,000 versions", "POST", CRDS, _json(many_versions))
    yield Asked("its schema", "GET", "/openapi/v3/apis/versions.example.com/v1", b"")


def _definition(fields: dict[str, Any], group: str = "") -> dict[str, Any]:
    group = f"{group}.example.com".lstrip(".")
    names = {"plural": "foos", "singular": "foo", "kind": "Foo", "listKind": "FooList"}
    spec = {"type": "object", "properties": fields}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    versions = [{"name": "v1", "served": True, "storage": True, "schema": schema}]
    about = {"group": group, "scope": "Namespaced", "names": names, "versions": versions}
    return {"metadata": {"name": f"foos.{group}"}, "spec": about}


def _foo(spec: dict[str, Any]) -> bytes:
    about = {"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "a"}}
    return _json({**about, "spec": spec})


def _json(value: Any) -> bytes:
    return msgspec.json.encode(value)


if __name__ == "__main__":
    print(msgspec.json.encode(asyncio.run(_measure())).decode())
