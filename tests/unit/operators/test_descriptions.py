"""Every field of every installed kind says what it is: `kubectl explain` leaves nobody alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

DEPLOY = Path(__file__).parents[3] / "deploy"
FILES = sorted(DEPLOY.rglob("crds.yaml"))
# The server describes them by itself.
COMMON = {".apiVersion", ".kind", ".metadata"}
# Examples do without; what the parts of them are for is their fields' to say.
PARTS = {"Greeter.spec", "Greeter.status", "Topic.spec", "Topic.status"}
# Kubernetes' own types: `kubectl explain pod.spec` has the words, as the field around them says.
KUBERNETES = re.compile(
    r"CosmosFullNode\.spec\.podTemplate\.(affinity|tolerations\[\]|resources|volumes\[\]"
    r"|initContainers\[\]|containers\[\])\."
    r"|CosmosFullNode\.spec\.additionalVersionedPods\[\]\.|StatefulJob\.spec\.podTemplate\."
)
# What a reader of the code is told, and a user cannot look at.
INTERNAL = re.compile(rf"see above|see below|{'TO'}DO|\bself\.|_SECONDS")


def properties(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every property of a schema, with its path."""
    for name, each in schema.get("properties", {}).items():
        yield f"{path}.{name}", each
        yield from properties(each, f"{path}.{name}")
    for inner in ("items", "additionalProperties"):
        if isinstance(schema.get(inner), dict):
            yield from properties(schema[inner], f"{path}[]")


def described(file: Path) -> Iterator[tuple[str, str]]:
    """The fields of the kinds of a file, with what is said of them."""
    for crd in yaml.safe_load_all(file.read_text()):
        for version in crd["spec"]["versions"]:
            for path, each in properties(version["schema"]["openAPIV3Schema"]):
                if path not in COMMON:
                    yield f"{crd['spec']['names']['kind']}{path}", each.get("description", "")


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.parent.relative_to(DEPLOY)))
def test_every_field_has_a_description_for_users(file: Path) -> None:
    found = {path: text for path, text in described(file) if not KUBERNETES.match(path)}
    assert {path for path, text in found.items() if not text} <= PARTS
    assert [text for text in found.values() if INTERNAL.search(text)] == []
