"""What the conditions of a CosmosFullNode say of what a pod tells."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from quintant.api.meta import condition_of
from quintant.core import codec
from quintant.operators.cosmos.api.views import NodePod
from quintant.operators.cosmos.observed.outcome import FullNodeOutcome
from quintant.operators.cosmos.plan.conditions import conditions
from unit.operators.cosmos.observations import observed, pod


def preparing(**status: Any) -> NodePod:
    """A pod as a server tells it, whose genesis is being fetched."""
    container = {
        "name": "node", "image": "gaia:v1", "readinessProbe": {"httpGet": {"port": 26657}},
        "ports": [{"name": "p2p", "containerPort": 26656}, {"name": "rpc", "containerPort": 26000}],
    }  # fmt: skip
    volumes = [
        {"name": "vol-tmp", "emptyDir": {}},
        {"name": "vol-chain-home", "persistentVolumeClaim": {"claimName": "pvc-hub-0"}},
    ]
    plain = {
        "metadata": {"name": "hub-0", "namespace": "test", "uid": "uid-0"},
        "spec": {"containers": [container], "volumes": volumes},
        "status": {"initContainerStatuses": [{"name": "genesis-init", **status}]},
    }
    return codec.decode(NodePod, msgspec.json.encode(plain))


FAILED = {"terminated": {"exitCode": 1, "message": "genesis: 404 at http://a/genesis.json"}}


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ({"state": FAILED}, "hub-0 genesis-init: genesis: 404 at http://a/genesis.json"),
        ({"state": {"running": {}}, "lastState": FAILED}, "hub-0 genesis-init: genesis: 404"),
        ({"state": {"running": {}}, "lastState": FAILED, "ready": True}, ""),
        ({"state": {"terminated": {"exitCode": 0}}, "ready": True}, ""),
    ],
)
def test_the_last_words_of_an_init_container_are_told_until_it_is_done(
    status: dict[str, Any], said: str
) -> None:
    seen = replace(observed("?"), pods=(preparing(**status),))
    told = condition_of(conditions(seen, FullNodeOutcome()), "Initialised")
    assert told is not None
    assert (told.status, told.message[: len(said)]) == ("False" if said else "True", said)


def test_of_a_pod_all_is_read_that_is_acted_upon() -> None:
    found = preparing()
    assert (found.claim, found.rpc_port, found.probed, found.ready) == (
        "pvc-hub-0", 26000, True, False,
    )  # fmt: skip
    assert pod(0).claim == "pvc-hub-0"
