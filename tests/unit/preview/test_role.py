"""A preview reads, and nothing else."""

from __future__ import annotations

import pytest

from quintant.api.rbac import ClusterRole, Role
from quintant.operators import OPERATORS, manager_of
from quintant.preview.role import preview_rbac, reading
from quintant.runtime.manager.permissions import Permission, Permissions
from scenarios.greeter import greeter_manager


def rules(name: str) -> list[tuple[str, str]]:
    objects = preview_rbac(manager_of(name), "default")
    roles = [each for each in objects if isinstance(each, ClusterRole | Role)]
    return [
        (resource, verb)
        for role in roles
        for rule in role.rules or ()
        for resource in rule.resources
        for verb in rule.verbs
    ]


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_no_verb_of_any_operators_preview_writes(name: str) -> None:
    assert {verb for _, verb in rules(name)} <= {"get", "list"}
    assert not any("/" in resource for resource, _ in rules(name))


def test_what_is_written_must_be_read_and_what_is_watched_listed() -> None:
    held = [("maps", "create"), ("maps", "watch"), ("maps/status", "patch"), ("events", "create")]
    found = reading(Permissions(Permission("", resource, verb) for resource, verb in held))
    assert {(each.resource, each.verb) for each in found} == {("maps", "get"), ("maps", "list")}


def test_the_role_is_not_that_of_the_program() -> None:
    objects = preview_rbac(greeter_manager(), "default")
    assert {each.metadata.name for each in objects} == {"greeter-preview"}
