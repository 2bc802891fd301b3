"""metacontroller, unmodified: a CompositeController whose sync hook is this test's."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from aiohttp import web

from conformance.target import until
from foreign.catalogue import METACONTROLLER
from foreign.process import free_ports
from interop.conftest import Aloud
from interop.served import Served, provided, up
from unit.cluster.api import CRDS, JsonObject

GROUP = "example.com"
SETS = f"/apis/{GROUP}/v1/namespaces/default/catsets"
CONTROLLERS = "/apis/metacontroller.k8s.io/v1alpha1/compositecontrollers"


async def sync(request: web.Request) -> web.Response:
    """The hook: as many ConfigMaps as are asked for, and how many there are."""
    asked = await request.json()
    parent, children = asked["parent"], asked["children"]["ConfigMap.v1"]
    name, spec = parent["metadata"]["name"], parent["spec"]
    wanted = [child(f"{name}-{each}", spec["color"]) for each in range(spec["count"])]
    return web.json_response({"status": {"found": len(children)}, "children": wanted})


async def finalize(request: web.Request) -> web.Response:
    """The hook of a parent that is deleted: done once no child is left."""
    children = (await request.json())["children"]["ConfigMap.v1"]
    return web.json_response({"children": [], "finalized": not children})


def child(name: str, color: str) -> JsonObject:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name},
        "data": {"color": color},
    }


@pytest.fixture
def program(aloud: Aloud) -> Path:
    return provided((METACONTROLLER,), aloud)[0]


@pytest_asyncio.fixture
async def hooks() -> AsyncIterator[str]:
    """A server of both hooks; its address."""
    app = web.Application()
    app.add_routes([web.post("/sync", sync), web.post("/finalize", finalize)])
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0]
        yield f"http://{host}:{port}"
    finally:
        await runner.cleanup()


@pytest_asyncio.fixture
async def served(program: Path, hooks: str, tmp_path: Path) -> AsyncIterator[Served]:
    """A cluster with metacontroller at work, and a controller of CatSets."""
    published = METACONTROLLER.source(os.environ) / "manifests/production"
    async with up(tmp_path, "--api-only") as found:
        await found.apply("-f", published / "metacontroller-crds-v1.yaml")
        await found.target.create(CRDS, definition())
        flags = (
            f"--kubeconfig={found.kubeconfig}",
            f"--client-config-path={found.kubeconfig}",
            f"--debug-addr=127.0.0.1:{free_ports(1)[0]}",
            "--discovery-interval=1s",
        )
        with found.running("metacontroller", program, *flags):
            await found.target.create(CONTROLLERS, composite(hooks))
            yield found


def definition() -> JsonObject:
    open_part = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"type": "object", "properties": {"spec": open_part, "status": open_part}}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
    }
    names = {"plural": "catsets", "singular": "catset", "kind": "CatSet"}
    spec = {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"catsets.{GROUP}"},
        "spec": spec,
    }


def composite(hooks: str) -> JsonObject:
    in_place = {"method": "InPlace"}
    urls = {each: {"webhook": {"url": f"{hooks}/{each}"}} for each in ("sync", "finalize")}
    return {
        "apiVersion": "metacontroller.k8s.io/v1alpha1",
        "kind": "CompositeController",
        "metadata": {"name": "catset-controller"},
        "spec": {
            "generateSelector": True,
            "parentResource": {"apiVersion": f"{GROUP}/v1", "resource": "catsets"},
            "childResources": [
                {"apiVersion": "v1", "resource": "configmaps", "updateStrategy": in_place}
            ],
            "hooks": urls,
        },
    }


def cat_set(name: str, count: int, color: str) -> JsonObject:
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "CatSet",
        "metadata": {"name": name},
        "spec": {"count": count, "color": color},
    }


async def children(served: Served) -> dict[str, str]:
    """The color of each child."""
    listed = (await served.target.get(served.target.path("configmaps")))["items"]
    return {each["metadata"]["name"]: each["data"]["color"] for each in listed}


async def become(served: Served, wanted: dict[str, str]) -> None:
    assert await until(lambda: children(served), lambda found: found == wanted) == wanted


async def test_children_are_made_changed_and_deleted_as_the_hook_says(served: Served) -> None:
    target = served.target
    await target.create(SETS, cat_set("a", 3, "red"))
    await become(served, {f"a-{each}": "red" for each in range(3)})
    listed = (await target.get(target.path("configmaps")))["items"]
    owners = [each["metadata"]["ownerReferences"][0] for each in listed]
    assert {(each["kind"], each["name"], each["controller"]) for each in owners} == {
        ("CatSet", "a", True)
    }

    async def counted() -> int:
        return int((await target.get(f"{SETS}/a")).get("status", {}).get("found", 0))

    assert await until(counted, lambda found: found == 3) == 3
    await target.delete(target.path("configmaps", "a-1"))
    await become(served, {f"a-{each}": "red" for each in range(3)})
    await target.merge(f"{SETS}/a", {"spec": {"color": "black", "count": 2}})
    await become(served, {"a-0": "black", "a-1": "black"})


async def test_a_parent_that_is_deleted_goes_after_its_children(served: Served) -> None:
    await served.target.create(SETS, cat_set("a", 2, "red"))
    await served.target.create(SETS, cat_set("b", 1, "grey"))
    await become(served, {"a-0": "red", "a-1": "red", "b-0": "grey"})
    await served.target.delete(f"{SETS}/a")
    names = await until(lambda: served.target.names(SETS), lambda found: found == ["b"])
    assert names == ["b"]
    assert await children(served) == {"b-0": "grey"}
