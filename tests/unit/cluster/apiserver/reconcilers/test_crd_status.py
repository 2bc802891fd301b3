from __future__ import annotations

from quintant.cluster.apiserver.crd.definition import CLEANUP
from quintant.cluster.apiserver.crd.names import AcceptedNames
from quintant.cluster.apiserver.meta.conditions import StatusCondition
from quintant.cluster.apiserver.reconcilers.crd_status import (
    CLEARED,
    ESTABLISHED,
    with_accepted_names,
    with_status,
    without_finalizer,
)
from unit.cluster.api import JsonObject

NOW = "2026-01-01T00:00:00Z"


def naming(accepted: bool) -> AcceptedNames:
    return AcceptedNames({"plural": "foos"}, StatusCondition("NamesAccepted", accepted, "r", "m"))


def reason(status: JsonObject) -> str:
    established = (each for each in status["conditions"] if each["type"] == "Established")
    return str(next(established)["reason"])


def test_a_definition_waits_until_its_names_are_accepted() -> None:
    assert reason(with_accepted_names(naming(False), {}, NOW)) == "NotAccepted"
    assert reason(with_accepted_names(naming(True), {}, NOW)) == "Installing"


def test_a_definition_that_is_served_stays_established() -> None:
    served = ESTABLISHED.set({}, NOW)
    assert reason(with_accepted_names(naming(False), served, NOW)) == "InitialNamesAccepted"


def test_names_that_are_accepted_already_change_nothing() -> None:
    status = with_accepted_names(naming(True), {}, NOW)
    assert with_accepted_names(naming(True), status, "later") is status


def test_a_status_is_changed_beside_the_live_object() -> None:
    live = {"metadata": {"name": "a"}, "status": {}}
    changed = with_status(ESTABLISHED.set, NOW, live)
    assert (ESTABLISHED.is_set(changed["status"]), live["status"]) == (True, {})


def test_a_definition_without_objects_loses_the_finalizer_of_the_server_alone() -> None:
    live = {"metadata": {"finalizers": [CLEANUP, "x.y/z"]}, "status": {}}
    freed = without_finalizer(CLEARED, NOW, live)
    assert freed["metadata"]["finalizers"] == ["x.y/z"]
    assert freed["status"]["conditions"][0]["reason"] == "InstanceDeletionCompleted"
