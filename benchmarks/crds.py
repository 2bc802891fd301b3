"""Definitions of real projects in the embedded cluster, beside etcd and kube-apiserver: memory."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import msgspec
import psutil

from benchmarks.embedded import Target, embedded, real
from benchmarks.report import Budget, Table
from benchmarks.sizes import Sizes
from benchmarks.subprocesses import answer
from foreign.crd_bundles import definitions

OURS, PAIR = "quintant up", "kube-apiserver + etcd"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
FIRST_USES = 50
"""Kinds of which objects are made: one after another of the same kind shows what the first cost."""
METHOD = (
    "{count} definitions ({size:.1f} MB of JSON, {versions} versions) of {bundles}, as published, "
    "are created one after the other over TLS, each as soon as the one before is answered; then an "
    f"object is made of {FIRST_USES} of them, and another one: an empty one, which most refuse, "
    "after looking at all of their schema. `discovery` is after a client has read /openapi/v3 and "
    "/openapi/v2, as kubectl does. RSS is of all processes of the server."
)
BUDGET_MB = 150


class Load(msgspec.Struct):
    """What the client measured, in seconds."""

    create: list[float]
    first: list[float]
    second: list[float]


class Discovered(msgspec.Struct):
    """How long the documents of all kinds took, in seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Measured:
    """What one server took, in MB and seconds."""

    empty: float
    defined: float
    used: float
    discovered: float
    load: Load
    discovery: float


def run(sizes: Sizes, say: Callable[[str], None]) -> Iterator[Table]:
    """Measure one after the other."""
    found = definitions(sizes.definitions, say)
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        Path(file.name).write_bytes(msgspec.json.encode(found))
        measured = {}
        for name, target in ((OURS, embedded), (PAIR, real)):
            say(f"crds: {name}")
            measured[name] = _measure(target(), file.name)
    yield _table(measured, found)


def _measure(context: AbstractContextManager[Target], file: str) -> Measured:
    with context as target:
        env = {"KUBECONFIG": str(target.kubeconfig)}
        empty = _memory(target)
        load = answer("crds", "create", file, to=Load, env=env)
        defined = _memory(target)
        used = answer("crds", "use", file, to=Load, env=env)
        after = _memory(target)
        seconds = answer("crds", "discover", file, to=Discovered, env=env).seconds
        used.create = load.create
        return Measured(empty, defined, after, _memory(target), used, seconds)


def _memory(target: Target) -> float:
    return sum(psutil.Process(pid).memory_info().rss for pid in target.pids) / 1e6


def _table(measured: dict[str, Measured], found: Sequence[dict[str, Any]]) -> Table:
    ours = measured[OURS]
    size = sum(len(msgspec.json.encode(each)) for each in found) / 1e6
    versions = sum(len(each["spec"]["versions"]) for each in found)
    return Table(
        f"{len(found)} definitions of real projects",
        METHOD.format(count=len(found), size=size, versions=versions, bundles="15 projects"),
        ("", "RSS empty", "defined", "used", "discovery", "create", "first use", "second"),
        [_row(name, each) for name, each in measured.items()],
        (
            Budget(
                f"at most {BUDGET_MB} MB with all of them",
                f"{ours.defined:.0f} MB",
                ours.defined <= BUDGET_MB,
            ),
        ),
    )


def _row(name: str, each: Measured) -> tuple[str, ...]:
    memory = (each.empty, each.defined, each.used, each.discovered)
    times = (each.load.create, each.load.first, each.load.second)
    return (
        name,
        *(f"{value:.0f} MB" for value in memory),
        *(f"{1_000 * median(value):.0f} ms" for value in times),
    )


async def _client(action: str, found: list[dict[str, Any]]) -> Load | Discovered:
    from quintant.client.config.config import Config
    from quintant.client.http.transport import HttpTransport
    from quintant.client.transport import ApiRequest

    transport = HttpTransport(Config.discover())

    async def seconds(request: ApiRequest) -> float:
        began = time.monotonic()
        await transport.request(request)
        return time.monotonic() - began

    async def post(path: str, body: Any) -> float:
        return await seconds(ApiRequest("POST", path, body=msgspec.json.encode(body)))

    try:
        if action == "create":
            return Load([await post(CRDS, each) for each in found], [], [])
        if action == "use":
            step = max(1, len(found) // FIRST_USES)
            bodies = [_empty(each) for each in found[::step]]
            first = [await post(*each) for each in bodies]
            return Load([], first, [await post(*each) for each in bodies])
        index = await transport.request(ApiRequest("GET", "/openapi/v3"))
        began = time.monotonic()
        for path in msgspec.json.decode(index.body)["paths"].values():
            where, _, query = path["serverRelativeURL"].partition("?hash=")
            await seconds(ApiRequest("GET", where, query={"hash": query}))
        await seconds(ApiRequest("GET", "/openapi/v2"))
        return Discovered(time.monotonic() - began)
    finally:
        await transport.close()


def _empty(definition: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Where an object of a definition is created, and one without a spec."""
    spec = definition["spec"]
    version = next(each["name"] for each in spec["versions"] if each["storage"])
    group, names = f"{spec['group']}/{version}", spec["names"]
    scope = "namespaces/default/" if spec["scope"] == "Namespaced" else ""
    body = {
        "apiVersion": group,
        "kind": names["kind"],
        "metadata": {"generateName": "bench-"},
        "spec": {},
    }
    return f"/apis/{group}/{scope}{names['plural']}", body


if __name__ == "__main__":
    DEFINITIONS = msgspec.json.decode(Path(sys.argv[2]).read_bytes())
    print(msgspec.json.encode(asyncio.run(_client(sys.argv[1], DEFINITIONS))).decode())
