"""The series of the contract are there, and gauges are what there is."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from quintant.operators.portal.api import TunnelClass
from testbeds.portal import Town


def series(town: Town) -> dict[tuple[str, str], float]:
    """Every sample by its name and its one label's value."""
    assert town.engine is not None
    text = town.engine.metrics.render().decode()
    return {
        (sample.name, next(iter(sample.labels.values()), "")): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def test_gauges_equal_what_there_is(town: Town) -> None:
    assert series(town)["portalexpose_status_phase", "Ready"] == 0
    await town.ready(relays=2)
    await town.classed("unused", default=False)
    await town.expose("lost", tunnel_class="none")
    await town.phase("Failed", "lost")
    await town.cluster.advance(1)
    found = series(town)
    phases = {phase: found["portalexpose_status_phase", phase] for phase in
              ("Pending", "Ready", "Degraded", "Failed")}  # fmt: skip
    assert phases == {"Pending": 0, "Ready": 1, "Degraded": 0, "Failed": 1}
    relays = {state: found["portalexpose_relay_connections_total", state] for state in
              ("Connected", "Disconnected", "Unknown")}  # fmt: skip
    assert relays == {"Connected": 2, "Disconnected": 0, "Unknown": 1}
    assert found["tunnelclass_referenced_total", "small"] == 1
    assert found["tunnelclass_referenced_total", "unused"] == 0
    assert found["portalexpose_reconcile_total", "success"] > 0
    assert found["portalexpose_reconcile_total", "error"] == 0
    for name in ("duration", "api"):
        counted = found[f"portalexpose_reconcile_{name}_seconds_count", ""]
        assert counted == found["portalexpose_reconcile_total", "success"]
    assert found["portalexpose_status_lag_seconds_count", ""] > 0


async def test_series_of_a_class_goes_with_it(town: Town) -> None:
    await town.ready()
    before = series(town)
    await town.cluster.client.delete(await town.cluster.get(TunnelClass, "small", ""))
    await town.phase("Failed")
    after = series(town)
    assert ("tunnelclass_referenced_total", "small") in before
    assert ("tunnelclass_referenced_total", "small") not in after
    total = ("portalexpose_reconcile_total", "success")
    assert after[total] >= before[total]
