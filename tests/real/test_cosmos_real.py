"""A CosmosFullNode whose nodes are real ones of CometBFT, as pods of the embedded cluster.

One chain for all: three nodes begin, and are then replaced one by one.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

import patience
from foreign.catalogue import COMETBFT
from quintant.api.core import ConfigMap, Pod
from quintant.api.discovery import EndpointSlice
from quintant.die_with_parent import die_with_parent
from quintant.operators.cosmos.builders.node_key_builder import parse_node_key
from quintant.runtime.manager.sample import example
from testbeds.comet_chains import Validator, answered, call, image_table, node_status, peers_of
from testbeds.cosmos_real import NAMESPACE, RealCosmosTestbed, example_node, opened
from testbeds.real_cluster import GONE, history, ready_endpoints, revision

pytestmark = [pytest.mark.realtime, pytest.mark.asyncio(loop_scope="module")]

NAME, IMAGE = "kv", "cometbft/cometbft"
NODES = [f"{NAME}-{at}" for at in range(3)]


@dataclass(frozen=True)
class Chain:
    """Three nodes at rest, and what they follow."""

    testbed: RealCosmosTestbed
    validator: Validator


@pytest.fixture(scope="module")
def cometbft(request: pytest.FixtureRequest) -> Path:
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        return COMETBFT.provide(os.environ)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chain(cometbft: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Chain]:
    folder = tmp_path_factory.mktemp("chain")
    with Validator.of_kvstore(cometbft, folder / "validator").running() as validator:
        async with opened(image_table(folder, IMAGE, cometbft)) as testbed:
            image = {"image": f"{IMAGE}:v1"}
            await testbed.apply(example_node("kvstore", validator, NAME, podTemplate=image))
            await testbed.settled(NAME)
            yield Chain(testbed, validator)


async def test_three_nodes_are_each_others_peers_and_follow_the_chain(chain: Chain) -> None:
    reached = (await node_status(chain.validator.address)).height
    pods = await chain.testbed.pods(NAME)
    assert sorted(pods) == NODES
    for pod in pods.values():
        told = await answered(pod.status.pod_ip, reached)
        assert (told.network, told.catching_up) == (chain.validator.chain, False)
        # Two siblings and the validator.
        assert len(await peers_of(pod.status.pod_ip, 3)) == 3


async def test_every_node_has_the_identity_that_we_gave_it(cometbft: Path, chain: Chain) -> None:
    for name, pod in (await chain.testbed.pods(NAME)).items():
        config = await chain.testbed.client.get(ConfigMap, name, NAMESPACE, live=True)
        ours = parse_node_key(config.data["node_key.json"]).node_id
        home = await chain.testbed.volume(f"pvc-{name}")
        assert call(cometbft, "show-node-id", "--home", home).strip() == ours
        assert (await node_status(pod.status.pod_ip)).node_id == ours


async def test_another_image_replaces_them_one_by_one_as_they_are_in_sync(chain: Chain) -> None:
    client, before = chain.testbed.client, await chain.testbed.pods(NAME)
    since = await revision(client, EndpointSlice, NAMESPACE)
    await chain.testbed.change(NAME, {"podTemplate": {"image": f"{IMAGE}:v2"}})
    await chain.testbed.settled(NAME, within=90)

    pods = await chain.testbed.pods(NAME)
    assert {pod.spec.containers[0].image for pod in pods.values()} == {f"{IMAGE}:v2"}
    assert not {each.metadata.uid for each in pods.values()} & {
        each.metadata.uid for each in before.values()
    }
    told = await history(client, Pod, NAMESPACE, since)
    assert _replaced(told, before) == [(name, []) for name in NODES]
    assert min(await ready_endpoints(client, f"{NAME}-rpc", NAMESPACE, since)) >= 2


async def test_the_demo_shows_real_nodes_where_the_table_has_them(
    cometbft: Path, tmp_path: Path
) -> None:
    line = (sys.executable, "-m", "quintant", "demo", "cosmos", "--exit")
    images = ("--images", str(example("cosmos/images.yaml")))
    found = os.pathsep.join((str(cometbft.parent), os.environ["PATH"]))
    ran = await asyncio.create_subprocess_exec(
        *die_with_parent((*line, *images, "--kubeconfig", str(tmp_path / "kubeconfig"))),
        env={**os.environ, "PATH": found},
        stdout=asyncio.subprocess.PIPE,
    )
    async with patience.within(120):
        said, _ = await ran.communicate()
    assert "3 nodes of real CometBFT 0.38.17 are in sync; chain kvstore-1" in said.decode()
    assert ran.returncode == 0


def _replaced(told: list[tuple[str, Pod]], before: dict[str, Pod]) -> list[tuple[str, list[str]]]:
    """Which nodes were taken away, in order, and who else was not ready then.

    A node is ready when its sidecar says that CometBFT is not catching up.
    """
    ready = dict.fromkeys(before, True)
    found, gone = [], set()
    for what, pod in told:
        name = pod.metadata.name
        if pod.deleting and pod.metadata.uid not in gone:
            gone.add(pod.metadata.uid)
            found.append((name, [each for each in ready if each != name and not ready[each]]))
        ready[name] = what != GONE and not pod.deleting and pod.ready
    return found
