"""docs/cosmos.md: every difference from the original that its table names is one, and shown.

What follows from a spec alone is built here. What takes a chain is shown by a scenario, which is
named beside its row.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from manifests.operator_parts import operator_parts
from quintant.core.schema.crd import crd
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.builders.config_map_builder import neighbours
from quintant.operators.cosmos.builders.init_container_builder import Tools
from quintant.operators.cosmos.builders.instances import labels
from quintant.operators.cosmos.builders.pod_builder import PodInputs, build_pod
from quintant.operators.cosmos.builders.pvc_builder import build_claim, claim_template
from quintant.operators.cosmos.builders.rbac_builder import build_account
from quintant.operators.cosmos.rules import validate, warn
from unit.operators.cosmos.full_nodes import full_node, instance

Plain = dict[str, Any]

TESTS = Path(__file__).parents[3]
PAGE = (TESTS.parent / "docs" / "cosmos.md").read_text()
TITLE = "## Differences from the original\n"
SCRIPTS = ("genesisScript", "addrbookScript", "snapshotScript")


def pod_spec(**given: Any) -> Plain:
    of = full_node(**given)
    pod = build_pod(of, instance(of), PodInputs("sum"), Tools("tools:1"))
    assert pod is not None
    found: Plain = pod.spec.value
    return found


def properties(*path: str) -> Plain:
    """What the definition says of a field of the spec."""
    (version,) = crd(CosmosFullNode)["spec"]["versions"]
    found: Plain = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    for name in path:
        found = found["properties"][name]
    return found


def an_override_leaves_out_class_and_size() -> None:
    own = {"resources": {"requests": {"storage": "5Gi"}}}
    of = full_node(instanceOverrides={"hub-0": {"volumeClaimTemplate": own},
                                      "hub-1": {"volumeClaimTemplate": {}}})  # fmt: skip
    assert list(validate(of)) == []
    first, empty = (claim_template(of, instance(of, at)) for at in range(2))
    assert first.storage_class_name == of.spec.volume_claim_template.storage_class_name
    assert empty == of.spec.volume_claim_template


def another_disable_is_taken_for_pod() -> None:
    of = full_node(instanceOverrides={"hub-0": {"disable": "Everything"}})
    assert list(validate(of)) == []
    assert "taken for Pod" in " ".join(warn(of))
    assert build_pod(of, instance(of), PodInputs("sum"), Tools("tools:1")) is None
    assert build_claim(of, instance(of), None) is not None


def scripts_are_said_to_find_no_curl() -> None:
    for name in SCRIPTS:
        assert "no curl, wget or jq" in properties("chain", name)["description"]
    fields, _, rest = PAGE.partition("## Phases and conditions\n")
    assert "no `curl`, `wget` or `jq`" in fields
    section = rest.partition("### Scripts, and what they find\n")[2]
    assert "neither `curl` nor `wget`" in section.partition("```")[0], "before any example"


def a_sentry_has_no_probe() -> None:
    sentry, node = (
        [each for each in pod_spec(type=of)["containers"] if "readinessProbe" in each]
        for of in ("Sentry", "FullNode")
    )
    assert (len(sentry), len(node)) == (0, 2)


def labels_of_the_owner_do_not_win() -> None:
    of = full_node(metadata={"labels": {"app.kubernetes.io/name": "chart"}})
    assert labels(of)["app.kubernetes.io/name"] == "hub"


def a_pod_may_read_pods_and_patch_a_status() -> None:
    account = build_account(full_node())
    assert account is not None
    rights = {(rule.resources, rule.verbs) for rule in account.role.rules or ()}
    assert rights == {
        (("pods",), ("get",)),
        (("cosmosfullnodes",), ("get",)),
        (("cosmosfullnodes/status",), ("patch",)),
    }


def a_sidecar_asks_for_32_mebibytes() -> None:
    (sidecar,) = [each for each in pod_spec()["containers"] if each["name"] == "healthcheck"]
    assert sidecar["resources"]["requests"]["memory"] == "32Mi"


def the_operator_is_two_with_a_lease() -> None:
    objects = [each for part in operator_parts("cosmos").values() for each in part]
    (deployment,) = [each for each in objects if each["kind"] == "Deployment"]
    assert deployment["spec"]["replicas"] == 2
    rules = [rule for each in objects if each["kind"] == "Role" for rule in each["rules"]]
    assert any("leases" in rule["resources"] for rule in rules)


def a_template_wins_over_restricted() -> None:
    (node, _) = pod_spec()["containers"]
    assert node["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    own = {"name": "node", "securityContext": {"capabilities": {"add": ["NET_ADMIN"]}}}
    (node, _) = pod_spec(pod={"containers": [own]})["containers"]
    assert node["securityContext"]["capabilities"]["add"] == ["NET_ADMIN"]


def a_node_is_told_64_peers() -> None:
    assert len(neighbours(list(range(1000)), 500)) == 64
    assert len(neighbours(list(range(10)), 5)) == 9


def replicas_and_lists_have_a_limit() -> None:
    assert properties("replicas")["maximum"] == 1000
    assert "maxItems" in properties("additionalVersionedPods")


SHOWN: dict[str, Callable[[], None] | str] = {
    "available is what CometBFT says": "unit/operators/cosmos/plan/test_rollout.py"
    "::test_ready_is_not_enough_and_neither_is_in_sync",
    "a node halted for an upgrade": "operators/cosmos/test_upgrades.py"
    "::test_a_halted_node_is_neither_in_sync_nor_available",
    "a restarted operator": "operators/cosmos/test_rollouts.py"
    "::test_an_operator_that_was_restarted_deletes_nothing_before_it_asked",
    "scaling restarts all": "operators/cosmos/test_rollouts.py::test_scaling_restarts_nobody",
    "the node key goes": "operators/cosmos/test_trouble.py::test_identities_survive_everything",
    "a snapshot that fails": "operators/cosmos/test_snapshots.py"
    "::test_a_copy_that_fails_brings_the_pod_back_and_the_next_goes_on",
    "any node with a volume": "operators/cosmos/test_snapshots.py"
    "::test_failed_copies_do_not_pile_up_and_push_no_good_one_out",
    "an `autoDataSource` needs": "operators/cosmos/test_storage.py"
    "::test_without_labels_a_volume_is_filled_from_its_own_nodes_copies",
    "an override's `volumeClaimTemplate`": an_override_leaves_out_class_and_size,
    "any `disable`": another_disable_is_taken_for_pod,
    "scripts (`genesisScript`": scripts_are_said_to_find_no_curl,
    "without a load balancer": "operators/cosmos/test_objects.py"
    "::test_where_nothing_gives_addresses_it_is_complete_after_a_while_and_says_why",
    "pods are made before": "operators/cosmos/test_storage.py"
    "::test_no_pod_is_made_before_its_claim",
    "VolumeSnapshots installed later": "operators/cosmos/test_snapshots.py"
    "::test_without_the_kind_it_waits_and_goes_on_once_it_is_installed",
    "sentries need": a_sentry_has_no_probe,
    "failed and evicted": "operators/cosmos/test_rollouts.py"
    "::test_a_pod_that_is_deleted_or_fails_is_made_again",
    "labels of the CosmosFullNode": labels_of_the_owner_do_not_win,
    "the pods' role": a_pod_may_read_pods_and_patch_a_status,
    "sidecars ask for": a_sidecar_asks_for_32_mebibytes,
    "one replica": the_operator_is_two_with_a_lease,
    "containers keep the capabilities": a_template_wins_over_restricted,
    "every node is told all others": a_node_is_told_64_peers,
    "`replicas` and lists": replicas_and_lists_have_a_limit,
    "`fullNodeRef`, heights": "operators/cosmos/test_upgrades.py"
    "::test_heights_of_removed_instances_are_forgotten",
}
"""How a row begins, and what shows it."""


def originals() -> list[str]:
    """What the rows of the table say of the original."""
    table = PAGE.split(TITLE)[1].split("\n## ")[0].strip().splitlines()[2:]
    return [row.strip("|").split(" | ")[0].strip() for row in table]


def test_every_difference_in_the_table_is_shown_and_no_other() -> None:
    begins = [[key for key in SHOWN if row.startswith(key)] for row in originals()]
    assert begins == [[key] for key in SHOWN]


@pytest.mark.parametrize("row", [key for key, shown in SHOWN.items() if callable(shown)])
def test_a_difference_that_follows_from_a_spec_is_so(row: str) -> None:
    shown = SHOWN[row]
    assert callable(shown)
    shown()


@pytest.mark.parametrize("scenario", [each for each in SHOWN.values() if isinstance(each, str)])
def test_a_difference_that_takes_a_chain_has_its_scenario(scenario: str) -> None:
    file, _, name = scenario.partition("::")
    tree = ast.parse((TESTS / file).read_text())
    functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef)}
    functions |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert name in functions
