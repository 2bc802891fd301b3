"""Refusals are told in the layout of a real scheduler."""

from __future__ import annotations

from quintant.cluster.scheduler.fit_error import FitError


def test_reasons_are_counted_and_sorted() -> None:
    told = FitError(
        3, {"node(s) were unschedulable": 1, "Insufficient cpu": 2}, unresolvable=1
    ).message
    assert told == (
        "0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu. "
        "no new claims to deallocate, preemption: 0/3 nodes are available: "
        "1 Preemption is not helpful for scheduling, "
        "2 No preemption victims found for incoming pod."
    )


def test_what_holds_for_all_nodes_is_told_once() -> None:
    told = FitError(2, pre_filter="pod has unbound immediate PersistentVolumeClaims").message
    assert told.startswith(
        "0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims. no new"
    )


def test_empty_cluster_has_a_message_of_its_own() -> None:
    assert FitError(0).message == "no nodes available to schedule pods"
