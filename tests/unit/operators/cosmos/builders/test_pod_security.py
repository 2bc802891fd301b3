"""What pods may do: nothing that they are not given, and what a user gives them."""

from __future__ import annotations

from quintant.operators.cosmos.builders.pod_security import NOBODY, restrict


def test_a_bare_pod_runs_as_nobody_without_capabilities() -> None:
    made = restrict({"containers": [{"name": "a"}]})
    assert made["securityContext"]["runAsUser"] == NOBODY
    assert made["securityContext"]["runAsNonRoot"] is True
    assert made["containers"][0]["securityContext"] == {
        "capabilities": {"drop": ["ALL"]},
        "allowPrivilegeEscalation": False,
    }


def test_the_original_is_not_changed_and_twice_is_once() -> None:
    spec = {"containers": [{"name": "a"}], "initContainers": [{"name": "b"}]}
    once = restrict(spec)
    assert spec == {"containers": [{"name": "a"}], "initContainers": [{"name": "b"}]}
    assert restrict(once) == once
