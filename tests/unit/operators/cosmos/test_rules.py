"""What makes no sense is told with its field; what is probably not meant is told, too."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.operators.cosmos.rules import validate, warn
from unit.operators.cosmos.full_nodes import full_node

A, B = {"height": 0, "image": "a"}, {"height": 9, "image": "b"}


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"chain": {"config": {"overrides": "[p2p"}}}, "spec.chain.config.overrides"),
        ({"chain": {"app": {"minGasPrice": "1", "overrides": "x"}}}, "spec.chain.app.overrides"),
        ({"chain": {"versions": [A, B, B]}}, "spec.chain.versions[2].height"),
        ({"chain": {"versions": [B, A]}}, "spec.chain.versions[1].height"),
        ({"chain": {"versions": [{"height": 0, "image": ""}]}}, "spec.chain.versions[0].image"),
        ({"chain": {"stateSync": {"rpcServers": ["https://a:1", "nobody"]}}},
         "spec.chain.stateSync.rpcServers[1]"),
        ({"image": ""}, "spec.podTemplate.image"),
        ({"image": "", "chain": {"versions": [B]}}, "spec.podTemplate.image"),
        ({"strategy": {"maxUnavailable": "abc"}}, "spec.strategy.maxUnavailable"),
        ({"strategy": {"maxUnavailable": "5 %"}}, "spec.strategy.maxUnavailable"),
        ({"claim": {"resources": {"requests": {"storage": "big"}}}},
         "spec.volumeClaimTemplate.resources.requests.storage"),
        ({"claim": {"resources": {}}}, "spec.volumeClaimTemplate.resources.requests.storage"),
        ({"instanceOverrides": {"hub-0": {"volumeClaimTemplate": {"resources": {"requests":
          {"storage": "-1"}}}}}},
         "spec.instanceOverrides[hub-0].volumeClaimTemplate.resources.requests.storage"),
        ({"pod": {"containers": [{"image": "x"}]}}, "spec.podTemplate.containers[0].name"),
        ({"additionalVersionedPods": [{"name": "a", "containers": [{}]}]},
         "spec.additionalVersionedPods[0].containers"),
        ({"additionalVersionedPods": [{"name": "a", "containers": ["x"]}]},
         "spec.additionalVersionedPods[0].containers"),
        ({"additionalVersionedPods": [{"name": "", "containers": [{"name": "x"}]}]},
         "spec.additionalVersionedPods[0].name"),
        ({"additionalVersionedPods": [{"name": "a"}]},
         "spec.additionalVersionedPods[0].containers"),
        ({"selfHeal": {"pvcAutoScale": {"usedSpacePercentage": 80, "increaseQuantity": "lots"}}},
         "spec.selfHeal.pvcAutoScale.increaseQuantity"),
        ({"selfHeal": {"pvcAutoScale": {"usedSpacePercentage": 80, "increaseQuantity": "1Gi",
          "maxSize": "x"}}}, "spec.selfHeal.pvcAutoScale.maxSize"),
        ({"replicas": 2**31 - 1}, "spec.replicas"),
        ({"replicas": -1}, "spec.replicas"),
        ({"ordinals": {"start": 2**31}}, "spec.ordinals.start"),
        ({"chain": {"versions": [A] * 1001}}, "spec.chain.versions"),
        ({"chain": {"config": {"overrides": "#" * 65_537}}}, "spec.chain.config.overrides"),
        ({"additionalVersionedPods": [{"name": "a"}] * 17}, "spec.additionalVersionedPods"),
        ({"instanceOverrides": {f"hub-{at}": {} for at in range(2001)}}, "spec.instanceOverrides"),
        ({"strategy": {"progressDeadlineSeconds": 2**62}}, "spec.strategy.progressDeadlineSeconds"),
        ({"selfHeal": {"stall": {"seconds": 2**62}}}, "spec.selfHeal.stall.seconds"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_named_by_its_field(given: dict[str, Any], field: str) -> None:
    assert [each.field for each in validate(full_node(**given))] == [field]


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"image": "", "chain": {"versions": [A, B]}},
        {"image": "", "pod": {"containers": [{"name": "node", "image": "x"}]}},
        {"strategy": {"maxUnavailable": "25%"}},
        {"strategy": {"maxUnavailable": 3}},
    ],
)
def test_what_makes_sense_is_accepted(given: dict[str, Any]) -> None:
    assert list(validate(full_node(**given))) == []
    assert list(warn(full_node(**given))) == []


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"chain": {"config": {"peers": "nobody"}}}, "spec.chain.config.peers"),
        ({"instanceOverrides": {"other-1": {}}}, "other-1"),
        ({"instanceOverrides": {"hub-1": {"disable": "All|Pod"}}}, "disable"),
        ({"type": "Sentry", "pod": {"probes": {"strategy": "InSync"}}}, "probes.strategy"),
    ],
)
def test_what_is_probably_not_meant_is_told(given: dict[str, Any], word: str) -> None:
    (said,) = warn(full_node(**given))
    assert word in said
    assert list(validate(full_node(**given))) == []


def test_a_peer_that_is_one_is_accepted() -> None:
    peers = f"{'ab' * 20}@node.example.com:26656,{'01' * 20}@10.0.0.1:1"
    assert list(warn(full_node(chain={"config": {"peers": peers, "seeds": peers}}))) == []
