"""What an operator's role could be used for by who has its token is written down, and no more.

The table of docs/threat-model.md is compared with the generated roles: a right that is new, or
gone, is one that somebody has to think about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from quintant.operators import OPERATORS

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs/threat-model.md"
HEADING = "## If an operator's token is stolen"
WORDS = {
    "get": "read", "list": "read", "watch": "read", "create": "create", "patch": "change",
    "update": "change", "delete": "delete", "deletecollection": "delete",
}  # fmt: skip
ORDER = ("read", "create", "change", "delete")
HARMLESS = {("events.k8s.io", "events")}
"""What every program may do."""
SENSITIVE = {"secrets"}
"""What matters also to who may only read it."""
UNLIMITED = {"escalate", "bind", "impersonate", "*"}
DOORS = {
    "pods/exec",
    "pods/attach",
    "pods/portforward",
    "nodes/proxy",
    "serviceaccounts/token",
    "*",
}


class Right(NamedTuple):
    """What a role allows with a resource."""

    scope: str
    group: str
    resource: str
    verbs: frozenset[str]
    names: tuple[str, ...] = ()


def roles(operator: str) -> Iterator[dict[str, Any]]:
    for file in sorted((ROOT / "deploy" / operator).rglob("*.yaml")):
        if "namespaced" in file.parts:  # the same rights, in fewer namespaces
            continue
        for found in yaml.safe_load_all(file.read_text()):
            if found and found["kind"] in ("Role", "ClusterRole"):
                yield found


def rights(operator: str) -> Iterator[Right]:
    """Of the operator itself; agents have accounts of their own."""
    for role in roles(operator):
        name, scope = role["metadata"]["name"], role["metadata"].get("namespace", "everywhere")
        if name.split("-")[0] != operator:
            continue
        for rule in role["rules"]:
            for group in rule["apiGroups"]:
                for resource in rule["resources"]:
                    names = tuple(rule.get("resourceNames", ()))
                    yield Right(scope, group, resource, frozenset(rule["verbs"]), names)


def own_groups(operator: str) -> set[str]:
    definitions = yaml.safe_load_all((ROOT / f"deploy/{operator}/crds/crds.yaml").read_text())
    return {each["spec"]["group"] for each in definitions if each}


def strong(operator: str) -> set[str]:
    """The rights by which somebody could harm others, as the table writes them."""
    own, found = own_groups(operator), dict[tuple[str, str], set[str]]()
    for right in rights(operator):
        if right.group in own or (right.group, right.resource) in HARMLESS:
            continue
        words = {WORDS[verb] for verb in right.verbs}
        if right.resource == "leases" or (words == {"read"} and right.resource not in SENSITIVE):
            continue
        reach = ", ".join(right.names) or right.scope
        found.setdefault((right.resource, reach), set()).update(words)
    return {
        f"{resource} {reach}: {' '.join(word for word in ORDER if word in words)}"
        for (resource, reach), words in found.items()
    }


def table() -> dict[str, tuple[set[str], str]]:
    """By operator: the rights that the document names, and what it says of them."""
    section = DOCUMENT.read_text().partition(HEADING)[2].partition("\n## ")[0]
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in section.splitlines() if line[:1] == "|"]
    return {
        row[0].strip().strip("`"): (set(re.findall(r"`([^`]+)`", row[1])), row[2].strip())
        for row in rows[2:]
    }


@pytest.mark.parametrize("operator", sorted(OPERATORS))
def test_the_threat_model_names_every_strong_right_of_an_operator(operator: str) -> None:
    named, use = table()[operator]
    assert named == strong(operator)
    assert len(use) > 20, "what it could be used for"


def test_the_threat_model_names_no_operator_that_is_not_there() -> None:
    assert table().keys() == set(OPERATORS)


@pytest.mark.parametrize("operator", sorted(OPERATORS))
def test_no_role_is_without_limits_or_opens_a_door_into_pods(operator: str) -> None:
    for role in roles(operator):
        for rule in role["rules"]:
            assert not UNLIMITED & {*rule["verbs"], *rule["apiGroups"]}
            assert not DOORS & set(rule["resources"])
