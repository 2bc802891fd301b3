"""An operator can go, and what users made stays."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from quintant.operators import OPERATORS, manager_of
from quintant.runtime.manager.manifests import install_manifests
from testbeds.kustomize import DEPLOY, kustomization

KEPT = {"CustomResourceDefinition", "Namespace"}


def resources(folder: Path) -> list[str]:
    (listed,) = yaml.safe_load_all((folder / "kustomization.yaml").read_text())
    found: list[str] = listed["resources"]
    return found


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_definitions_and_operator_are_apart_and_together_in_one_folder(name: str) -> None:
    assert resources(DEPLOY / name) == ["crds", "operator"]
    assert {found["kind"] for found in kustomization(DEPLOY / name / "crds")} <= KEPT


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_no_definition_and_no_namespace_of_users_goes_with_the_operator(name: str) -> None:
    program = list(kustomization(DEPLOY / name / "operator"))
    kept = [found["metadata"]["name"] for found in program if found["kind"] in KEPT]
    assert kept == [OPERATORS[name].namespace], "its own, where nothing but itself is"


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_an_operator_for_a_namespace_has_roles_there_and_none_for_others_secrets(name: str) -> None:
    found = list(kustomization(DEPLOY / name / "namespaced"))
    roles = [each for each in found if each["kind"] == "ClusterRole"]
    resources = {kind for role in roles for rule in role["rules"] for kind in rule["resources"]}
    namespaced = {"secrets", "pods", "services", "configmaps", "deployments", "events"}
    assert not resources & namespaced
    (program,) = (each for each in found if each["kind"] == "Deployment")
    (container,) = program["spec"]["template"]["spec"]["containers"]
    watched = [word for word in container["args"] if word.startswith("--namespace=")]
    expected = next(iter(OPERATORS[name].namespaces), "default")
    assert watched == [f"--namespace={expected}"]


@pytest.mark.parametrize("name", ["klight", "cosmos"])
def test_an_operator_whose_kinds_all_have_a_namespace_needs_no_cluster_role(name: str) -> None:
    kinds = {found["kind"] for found in kustomization(DEPLOY / name / "namespaced")}
    assert not {"ClusterRole", "ClusterRoleBinding"} & kinds


def test_agents_may_read_devices_where_their_operator_looks_after_them() -> None:
    manager = manager_of("shifu", ("hall-1", "hall-2"))
    roles = [each for each in install_manifests(manager, "shifu-system")["objects"]
             if each["kind"] == "Role"]  # fmt: skip
    assert [role["metadata"]["namespace"] for role in roles] == ["hall-1", "hall-2"]
