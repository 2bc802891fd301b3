"""What a CosmosFullNode is told of its node, and which nodes are kept from starting."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

import patience
from quintant.agents.cosmosnode.last_words import NodeToolError
from quintant.agents.cosmosnode.versioncheck import VersionCheck, VersionOptions
from quintant.agents.leveldb.log_database import LogDatabase
from unit.agents.apiclient.pod_server import failure, pod
from unit.agents.cosmosnode.test_heights import application, message

pytestmark = pytest.mark.realtime
VERSIONS = [
    {"height": 0, "image": "gaia:v1"},
    {"height": 100, "image": "gaia:v2"},
    {"height": 300, "image": "gaia:v3", "setHaltHeight": True},
]
Plain = dict[str, Any]


class Cluster:
    """A CosmosFullNode and one pod of it."""

    def __init__(self, image: str = "gaia:v1", **spec: Any) -> None:
        owner = {"kind": "CosmosFullNode", "name": "hub", "controller": True}
        self.pod = {
            "metadata": {"name": "hub-0", "ownerReferences": [owner]},
            "spec": {"containers": [{"name": "node", "image": image}]},
        }
        chain = {"versions": VERSIONS}
        self.node: Plain = {"spec": {"chain": chain, **spec}, "status": {}}
        self.patches = 0
        self.changed = asyncio.Event()

    @property
    def status(self) -> Plain:
        found: Plain = self.node["status"]
        return found

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if request.method == "PATCH":
            self.patches += 1
            for key, entries in (await request.json())["status"].items():
                known = self.status.setdefault(key, {})
                known.update(entries)
                self.status[key] = {name: each for name, each in known.items() if each is not None}
            self.changed.set()
            return web.json_response(self.node)
        if request.path == "/api/v1/namespaces/test/pods/hub-0":
            return web.json_response(self.pod)
        if request.path.endswith("/cosmosfullnodes/hub"):
            return web.json_response(self.node)
        return failure(404, "NotFound", "not found", name=request.path.rpartition("/")[2])


async def check(
    cluster: Cluster,
    folder: Path,
    work: Callable[[VersionCheck], Awaitable[None]] = VersionCheck.once,
    **options: Any,
) -> None:
    data = folder / "data"
    given = VersionOptions("hub-0", "test", data, **options)
    async with pod(folder / "mount", cluster.answer) as (client, _):
        await work(VersionCheck(given, client))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


def halt(data: Path, height: int, name: str = "v2") -> None:
    (data / "upgrade-info.json").write_text(json.dumps({"name": name, "height": height}))


async def test_the_next_block_is_told_before_the_node_starts(tmp_path: Path, data: Path) -> None:
    cluster = Cluster()
    application(data, 41)
    await check(cluster, tmp_path)
    assert cluster.status == {"height": {"hub-0": 42}}
    await check(cluster, tmp_path)
    assert cluster.patches == 1


async def test_data_of_another_version_keep_the_node_from_starting_and_are_told(
    tmp_path: Path, data: Path
) -> None:
    cluster = Cluster("gaia:v1")
    application(data, 150)
    with pytest.raises(NodeToolError, match=r"block 151 is next, and is not for gaia:v1"):
        await check(cluster, tmp_path)
    assert cluster.status["height"] == {"hub-0": 151}


async def test_older_data_lower_the_height_that_was_told(tmp_path: Path, data: Path) -> None:
    cluster = Cluster("gaia:v1")
    cluster.status["height"] = {"hub-0": 151}
    application(data, 41)
    await check(cluster, tmp_path)
    assert cluster.status["height"] == {"hub-0": 42}


async def test_the_version_before_may_write_its_upgrade_at_the_very_height(
    tmp_path: Path, data: Path
) -> None:
    application(data, 99)
    await check(Cluster("gaia:v1"), tmp_path)
    halt(data, 100)
    with pytest.raises(NodeToolError):
        await check(Cluster("gaia:v1"), tmp_path)
    await check(Cluster("gaia:v2"), tmp_path)


async def test_a_version_that_halted_by_height_does_not_start_again(
    tmp_path: Path, data: Path
) -> None:
    application(data, 299)
    with pytest.raises(NodeToolError):
        await check(Cluster("gaia:v2"), tmp_path)


async def test_the_image_of_an_instance_of_its_own_is_right(tmp_path: Path, data: Path) -> None:
    application(data, 150)
    overrides = {"hub-0": {"image": "gaia:patched"}}
    await check(Cluster("gaia:patched", instanceOverrides=overrides), tmp_path)


async def test_without_versions_nothing_is_checked(tmp_path: Path) -> None:
    cluster = Cluster()
    cluster.node["spec"]["chain"] = {}
    await check(cluster, tmp_path)
    assert cluster.patches == 0


async def test_without_data_it_says_so_unless_told_otherwise(tmp_path: Path) -> None:
    with pytest.raises(NodeToolError, match="is no folder"):
        await check(Cluster(), tmp_path)
    await check(Cluster(), tmp_path, without_data=True)


async def test_an_unknown_height_is_not_told(tmp_path: Path, data: Path) -> None:
    cluster = Cluster()
    cluster.status["height"] = {"hub-0": 151}
    await check(cluster, tmp_path)
    assert cluster.status["height"] == {"hub-0": 151}


async def test_what_a_volume_before_said_of_an_upgrade_is_taken_back(
    tmp_path: Path, data: Path
) -> None:
    cluster = Cluster()
    cluster.status["upgradeInfo"] = {"hub-0": {"height": 100, "name": "v2"}}
    application(data, 41)
    await check(cluster, tmp_path)
    assert cluster.status["upgradeInfo"] == {}


async def test_a_pod_of_nobody_is_named(tmp_path: Path, data: Path) -> None:
    cluster = Cluster()
    cluster.pod["metadata"] = {"name": "hub-0"}
    with pytest.raises(NodeToolError, match="belongs to no CosmosFullNode"):
        await check(cluster, tmp_path)


async def test_beside_its_node_it_tells_of_an_upgrade_at_once(tmp_path: Path, data: Path) -> None:
    cluster = Cluster()

    async def work(checked: VersionCheck) -> None:
        stopped = asyncio.Event()
        async with patience.within(20), asyncio.TaskGroup() as group:
            group.create_task(checked.watch(stopped))
            halt(data, 100)
            await cluster.changed.wait()
            stopped.set()

    await check(cluster, tmp_path, work)
    assert cluster.status == {"upgradeInfo": {"hub-0": {"height": 100, "name": "v2"}}}


async def test_beside_a_node_that_stands_still_it_tells_a_height_of_another_version(
    tmp_path: Path, data: Path
) -> None:
    cluster = Cluster()
    cluster.status["height"] = {"hub-0": 99}
    LogDatabase(data / "application.db", {b"s/latest": message(1, 99)}).close()

    async def work(checked: VersionCheck) -> None:
        stopped = asyncio.Event()
        async with patience.within(20), asyncio.TaskGroup() as group:
            group.create_task(checked.watch(stopped))
            await cluster.changed.wait()
            stopped.set()

    await check(cluster, tmp_path, work, interval=0.05)
    assert cluster.status["height"] == {"hub-0": 100}
    assert cluster.patches == 1
