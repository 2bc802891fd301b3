"""What every operator of ours does when it is run as `quintant operator NAME`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from quintant.core.errors import ConfigError
from quintant.demo.systems import systems
from quintant.operators import OPERATORS, manager_of
from quintant.operators.klight.options import from_arguments
from quintant.runtime.controller.declaration import Declaration
from quintant.runtime.manager.manager import Manager

ROOT = Path(__file__).parents[3]
OPERATOR_FOLDERS = ROOT / "src" / "quintant" / "operators"


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_an_operator_competes_for_a_lease_unless_told_otherwise(name: str) -> None:
    assert manager_of(name).settings.leader_elect


@pytest.mark.parametrize("folder", sorted(OPERATORS))
def test_an_operator_is_installed_under_the_name_and_in_the_namespace_it_has(folder: str) -> None:
    program = OPERATORS[folder]
    assert manager_of(folder).name == program.name
    [system] = systems([folder])
    assert (system.name, system.namespace) == (folder, program.namespace)
    assert names_in(folder, "operator/namespace.yaml") == [program.namespace]
    assert names_in(folder, "crds/namespaces.yaml") == [*program.namespaces]


DIVIDED = {
    "portal": {"portal-expose-controller": "key", "tunnel-class-controller": "single"},
    "klight": {"klight": "key"},
    "cosmos": dict.fromkeys(
        ("fullnode", "cache", "selfhealing", "upgrades", "snapshot", "statefuljob"), "namespace"
    ),
    "infra": {
        "infrastructure": "key",
        "cluster-observer": "key",
        "cluster-scheduler": "single",
        "cloud": "single",
        "global-cloud": "single",
        "provider": "single",
        "global-provider": "single",
    },
}
"""How the controllers of each operator are divided among members."""


@pytest.mark.parametrize("folder", sorted(OPERATORS))
def test_an_operator_is_sharded_as_its_contract_says_or_refuses(folder: str) -> None:
    if folder not in DIVIDED:
        with pytest.raises(ConfigError, match="cannot be sharded"):
            manager_of(folder, shards=True)
        return
    manager = manager_of(folder, shards=True)
    manager.check()
    assert not manager.settings.leader_elect
    found = {
        declared.name.removeprefix("cosmos-"): division(declared)
        for declared in manager.declarations
    }
    assert found == DIVIDED[folder]
    assert "## Shards" in (OPERATOR_FOLDERS / folder / "README.md").read_text()


def division(declared: Declaration[Any]) -> str:
    """What of a controller's keys is one member's."""
    if declared.single:
        return "single"
    return "key" if declared.shard_key is None else "namespace"


def names_in(folder: str, file: str) -> list[str]:
    """The names of the objects in a file of an installation; none if there is no such file."""
    path = ROOT / "deploy" / folder / file
    made = yaml.safe_load_all(path.read_text()) if path.exists() else ()
    return [each["metadata"]["name"] for each in made]


def test_the_program_with_klights_flags_does_so_too() -> None:
    assert from_arguments([]).leader_elect
    assert not from_arguments(["-leader-elect=false"]).leader_elect


def test_managers_of_users_compete_only_if_they_say_so() -> None:
    assert not Manager("mine").settings.leader_elect


def test_the_original_recipe_has_a_lease_and_never_two_pods() -> None:
    parts = yaml.safe_load_all((ROOT / "deploy" / "klight" / "controller.yaml").read_text())
    found = {(each["kind"], each["metadata"]["name"]): each for each in parts}
    assert ("Role", "klight-controller-leader-election") in found
    program = found["Deployment", "klight-controller"]["spec"]
    assert program["strategy"] == {"type": "Recreate"}
    assert "leader-elect" not in str(program["template"])
