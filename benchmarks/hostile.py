"""Requests that are as large or as costly as they may be: what they are answered, and who waits.

A process serves the embedded cluster, sends it one bad request after another, and watches its loop.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
from aiohttp import ClientSession

from benchmarks.programs import answer
from benchmarks.report import Budget, Table
from benchmarks.sizes import Sizes
from quintant.cluster.http import serve
from quintant.cluster.server import ApiServer

BUDGET_MS = 50.0
"""A person does not notice it, and no lease is lost by it."""
TICK_SECONDS = 0.002
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


def run(sizes: Sizes, say: Callable[[str], None]) -> Iterator[Table]:
    """Send everything once."""
    say("hostile")
    found = answer("hostile", to=list[Outcome])
    worst = max(each.stall for each in found)
    yield Table(
        "Hostile requests",
        METHOD,
        ("request", "answer", "longest stall"),
        [(each.name, str(each.code), f"{each.stall:.0f} ms") for each in found],
        (Budget(f"no stall beyond {BUDGET_MS:.0f} ms", f"{worst:.0f} ms", worst <= BUDGET_MS),),
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


async def _measure() -> list[Outcome]:
    """Serve and ask in one process: reading what was prepared takes next to nothing."""
    meter = Meter()
    async with serve(ApiServer()) as url, ClientSession(url) as session:
        for asked in _before():
            await _code(session, asked)
        prepared = list(_hostile())
        watching = asyncio.ensure_future(meter.watch())
        found = []
        for asked in prepared:
            meter.worst = 0.0
            code = await _code(session, asked)
            found.append(Outcome(asked.name, code, meter.worst))
        watching.cancel()
    return found


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
    properties = {f"a{at}": {"type": "string", "default": "x"} for at in range(3_000)}
    yield Asked("definition of 3,000 fields", "POST", CRDS, _json(_definition(properties, "large")))


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
