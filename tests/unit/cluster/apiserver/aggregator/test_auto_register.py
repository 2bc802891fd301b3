"""Which APIServices are written so that they are those of what is served."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from quintant.cluster.apiserver.aggregator.api_service import ApiService
from quintant.cluster.apiserver.aggregator.auto_register import (
    ALWAYS,
    MANAGED,
    ON_START,
    plan_registrations,
)
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.core.resource import Resource

PODS = Kind(Resource("", "v1", "Pod", "pods"), "pods")
FOOS = Kind(Resource("example.com", "v1", "Foo", "foos"), "foos", custom=True)
CORE, CUSTOM = "v1.", "v1.example.com"


def api_service(name: str, mode: str | None, **spec: Any) -> ApiService:
    """One that is stored, as this server would have made it unless its spec says otherwise."""
    version, _, group = name.partition(".")
    priorities = (1000, 100) if group else (18000, 1)
    usual = dict(zip(("groupPriorityMinimum", "versionPriority"), priorities, strict=True))
    labels = {"labels": {MANAGED: mode}} if mode else {}
    whole = {
        "metadata": {"name": name, **labels},
        "spec": {"group": group, "version": version, **usual, **spec},
    }
    return msgspec.convert(whole, ApiService)


def written(mode: str | None, name: str = CUSTOM, **spec: Any) -> dict[str, ApiService]:
    return {name: api_service(name, mode, **spec)}


def test_each_version_that_is_served_gets_one() -> None:
    created = plan_registrations([PODS, FOOS], {}, set()).create
    assert {each["metadata"]["name"] for each in created} == {CORE, CUSTOM}


def test_one_that_is_as_it_should_be_is_left_alone() -> None:
    live = {**written(ALWAYS), **written(ON_START, CORE)}
    plan = plan_registrations([PODS, FOOS], live, set())
    assert (plan.create, plan.update, plan.delete) == ((), (), ())


def test_that_of_a_definition_goes_with_it() -> None:
    assert plan_registrations([PODS], written(ALWAYS), set()).delete == (CUSTOM,)


@pytest.mark.parametrize("mode", [ON_START, None])
def test_one_that_is_not_kept_true_for_a_definition_stays(mode: str | None) -> None:
    assert plan_registrations([PODS], written(mode), set()).delete == ()


def test_that_of_a_built_in_group_is_made_once_per_start() -> None:
    assert plan_registrations([PODS], {}, {CORE}).create == ()
    assert plan_registrations([FOOS], {}, {CUSTOM}).create != ()


def test_that_of_a_definition_is_set_right_and_that_of_an_administrator_is_not() -> None:
    plan = plan_registrations([FOOS], written(ALWAYS, versionPriority=7), set())
    (update,) = plan.update
    assert update["spec"]["versionPriority"] == 100
    theirs = written(None, versionPriority=7)
    assert plan_registrations([FOOS], theirs, set()).update == ()


def test_a_definition_is_served_here_whatever_server_its_apiservice_names() -> None:
    elsewhere = written(ALWAYS, service={"name": "s", "namespace": "n"})
    assert plan_registrations([FOOS], elsewhere, set()).update != ()
