"""kube-state-metrics, unmodified: what it tells equals the objects, also in shards."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio

from conformance.target import until
from conformance.workloads import deployment
from foreign.catalogue import KUBE_STATE_METRICS
from foreign.process import free_ports
from interop.conftest import Aloud
from interop.served import Served, provided, up
from unit.cluster.api import CRDS, JsonObject

SHARDS = 3
_SERIES = re.compile(r"^(\w+)\{(.*)\} (\S+)$")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_FAILED = re.compile(r"failed to (?:list|watch)[^\n]*", re.IGNORECASE)

Series = tuple[str, frozenset[tuple[str, str]], float]
CUSTOM = {
    "kind": "CustomResourceStateMetrics",
    "spec": {
        "resources": [
            {
                "groupVersionKind": {"group": "example.com", "version": "v1", "kind": "Foo"},
                "labelsFromPath": {"name": ["metadata", "name"]},
                "metrics": [
                    {
                        "name": "size",
                        "help": "Its size.",
                        "each": {"type": "Gauge", "gauge": {"path": ["spec", "size"]}},
                    }
                ],
            }
        ]
    },
}
"""By its own means: a gauge of a custom resource."""


@pytest.fixture
def program(aloud: Aloud) -> Path:
    return provided((KUBE_STATE_METRICS,), aloud)[0]


@pytest_asyncio.fixture
async def served(program: Path, tmp_path: Path) -> AsyncIterator[Served]:
    async with up(tmp_path, "--api-only") as found:
        yield found


@contextmanager
def telling(
    served: Served, program: Path, *flags: str, name: str = "metrics"
) -> Iterator[tuple[str, Path]]:
    """It at work; where its metrics are, and its log."""
    port, own = free_ports(2)
    addresses = ("--host=127.0.0.1", "--telemetry-host=127.0.0.1", f"--port={port}")
    words = (*addresses, f"--telemetry-port={own}", f"--kubeconfig={served.kubeconfig}", *flags)
    with served.running(name, program, *words) as log:
        yield f"http://127.0.0.1:{port}/metrics", log


async def told(*urls: str) -> list[Series]:
    """Every series of all of them; none of one that does not answer yet."""
    async with aiohttp.ClientSession() as session:
        pages = await asyncio.gather(*(page(session, url) for url in urls))
    matches = (_SERIES.match(line) for text in pages for line in text.splitlines())
    return [
        (found[1], frozenset(_LABEL.findall(found[2])), float(found[3]))
        for found in matches
        if found
    ]


async def page(session: aiohttp.ClientSession, url: str) -> str:
    try:
        async with session.get(url) as reply:
            return await reply.text()
    except aiohttp.ClientConnectionError:
        return ""


def values(series: list[Series], name: str, label: str) -> dict[str, float]:
    """The values of a metric by one of its labels; each is there once."""
    found = [(dict(labels)[label], value) for metric, labels, value in series if metric == name]
    assert len(found) == len(dict(found)), found
    return dict(found)


def pod(name: str) -> JsonObject:
    return {"metadata": {"name": name}, "spec": {"containers": [{"name": "main", "image": "one"}]}}


async def put_objects(served: Served, count: int) -> None:
    """Workloads of several kinds; pods of every phase."""
    target = served.target
    for each in range(count):
        await target.create(target.path("pods"), pod(f"p{each}"))
        body = deployment(f"d{each}", replicas=each)
        await target.create(target.path("deployments", api="apps/v1"), body)
        await target.create(target.path("configmaps"), {"metadata": {"name": f"c{each}"}})
    await target.merge(target.path("pods", "p0", sub="status"), {"status": {"phase": "Running"}})
    await target.create("/api/v1/nodes", {"metadata": {"name": "n"}})


async def agree(urls: tuple[str, ...], wanted: dict[tuple[str, str], dict[str, float]]) -> None:
    """Until the metrics are these, whatever others there are."""

    async def found() -> dict[tuple[str, str], dict[str, float]]:
        series = await told(*urls)
        return {each: values(series, *each) for each in wanted}

    assert await until(found, lambda it: it == wanted) == wanted


def infos(count: int) -> dict[tuple[str, str], dict[str, float]]:
    """What is told of these objects."""
    deployments = {f"d{each}": float(each) for each in range(count)}
    return {
        ("kube_pod_info", "pod"): {f"p{each}": 1.0 for each in range(count)},
        ("kube_deployment_spec_replicas", "deployment"): deployments,
        ("kube_node_info", "node"): {"n": 1.0},
    }


async def test_metrics_equal_the_objects_and_follow_them(served: Served, program: Path) -> None:
    await put_objects(served, 3)
    with telling(served, program) as (url, log):
        await agree((url,), infos(3))
        running = [
            dict(labels)["pod"]
            for metric, labels, value in await told(url)
            if metric == "kube_pod_status_phase" and value and ("phase", "Running") in labels
        ]
        assert running == ["p0"]
        target = served.target
        scale = target.path("deployments", "d1", "apps/v1", "scale")
        await target.merge(scale, {"spec": {"replicas": 7}})
        await target.delete(target.path("pods", "p2"), {"gracePeriodSeconds": 0})
        changed = infos(3)
        changed["kube_deployment_spec_replicas", "deployment"]["d1"] = 7.0
        del changed["kube_pod_info", "pod"]["p2"]
        await agree((url,), changed)
        assert _FAILED.findall(log.read_text()) == []


async def test_shards_tell_of_every_object_once(served: Served, program: Path) -> None:
    count = 20
    await put_objects(served, count)
    with ExitStack() as stack:
        urls = tuple(
            stack.enter_context(
                telling(
                    served, program, f"--shard={each}", f"--total-shards={SHARDS}", name=f"m{each}"
                )
            )[0]
            for each in range(SHARDS)
        )
        await agree(urls, infos(count))
        parts = [values(await told(url), "kube_pod_info", "pod") for url in urls]
        assert all(0 < len(part) < count for part in parts)


async def test_custom_resources_are_told_of_as_their_configuration_says(
    served: Served, program: Path
) -> None:
    await served.target.create(CRDS, definition())
    path = "/apis/example.com/v1/namespaces/default/foos"

    async def code() -> int:
        return (await served.target.send("GET", path)).status

    assert await until(code, lambda found: found == 200) == 200
    for name, size in (("a", 1), ("b", 5)):
        body = {"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": name}}
        await served.target.create(path, {**body, "spec": {"size": size}})
    config = served.folder / "custom.json"
    config.write_text(json.dumps(CUSTOM))
    with telling(served, program, f"--custom-resource-state-config-file={config}") as (url, _):
        await agree((url,), {("kube_customresource_size", "name"): {"a": 1.0, "b": 5.0}})


def definition() -> JsonObject:
    size = {"type": "object", "properties": {"size": {"type": "integer"}}}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": size}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    names = {"plural": "foos", "singular": "foo", "kind": "Foo", "listKind": "FooList"}
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "foos.example.com"},
        "spec": spec,
    }
