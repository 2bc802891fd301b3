"""GitOps tools can judge every kind: in each phase they say what is so."""

from __future__ import annotations

import pytest

from testbeds.kstatus import PhaseRecord, kstatus
from unit.operators.phases import PHASES

KINDS = {
    "LightNetwork",
    "PortalExpose", "TunnelClass",
    "Cluster", "Cloud", "GlobalCloud", "InfrastructureProvider", "GlobalInfrastructureProvider",
    "CosmosFullNode", "ScheduledVolumeSnapshot", "StatefulJob",
    "EdgeDevice", "EdgeNode", "TelemetryService",
}  # fmt: skip
phases = pytest.mark.parametrize("record", PHASES, ids=[each.name for each in PHASES])


@phases
def test_each_phase_is_judged_as_what_it_is(record: PhaseRecord) -> None:
    assert kstatus(record.wire) == record.verdict


@phases
def test_ready_is_said_of_every_kind_and_the_generation_that_it_is_about(
    record: PhaseRecord,
) -> None:
    status = record.wire["status"]
    assert status["observedGeneration"] == record.wire["metadata"]["generation"]
    assert "Ready" in {each["type"] for each in status["conditions"]}


@phases
def test_nothing_is_stalled_and_reconciling_at_once(record: PhaseRecord) -> None:
    true = {
        each["type"] for each in record.wire["status"]["conditions"] if each["status"] == "True"
    }
    assert not {"Stalled", "Reconciling"} <= true


@phases
def test_what_is_being_deleted_or_has_a_newer_spec_is_not_current(record: PhaseRecord) -> None:
    wire = record.wire
    newer = {**wire["metadata"], "generation": wire["metadata"]["generation"] + 1}
    assert kstatus({**wire, "metadata": newer}) == "InProgress"
    going = {**wire["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}
    assert kstatus({**wire, "metadata": going}) == "Terminating"


def test_every_kind_is_current_in_a_phase_and_not_current_in_another() -> None:
    judged = {(each.wire["kind"], each.verdict == "Current") for each in PHASES}
    assert judged == {(kind, current) for kind in KINDS for current in (True, False)}
