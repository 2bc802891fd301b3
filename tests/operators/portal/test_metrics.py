"""The series of the contract are there, and gauges are what there is."""

from __future__ import annotations

from quintant.operators.portal.api import TunnelClass
from testbeds.portal import PortalTestbed, series


def read(testbed: PortalTestbed) -> dict[tuple[str, str], float]:
    assert testbed.engine is not None
    return series(testbed.engine)


async def test_gauges_equal_what_there_is(testbed: PortalTestbed) -> None:
    assert read(testbed)["portalexpose_status_phase", "Ready"] == 0
    await testbed.ready(relays=2)
    await testbed.classed("unused", default=False)
    await testbed.expose("lost", tunnel_class="none")
    await testbed.phase("Failed", "lost")
    await testbed.cluster.advance(1)
    found = read(testbed)
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
    counted = found["portalexpose_reconcile_duration_seconds_count", ""]
    assert counted == found["portalexpose_reconcile_total", "success"]
    assert found["quintant_reconcile_api_seconds_sum", "portal-expose-controller"] >= 0
    assert found["portalexpose_status_lag_seconds_count", ""] > 0


async def test_series_of_a_class_goes_with_it(testbed: PortalTestbed) -> None:
    await testbed.ready()
    before = read(testbed)
    await testbed.cluster.client.delete(await testbed.cluster.get(TunnelClass, "small", ""))
    await testbed.phase("Failed")
    after = read(testbed)
    assert ("tunnelclass_referenced_total", "small") in before
    assert ("tunnelclass_referenced_total", "small") not in after
    total = ("portalexpose_reconcile_total", "success")
    assert after[total] >= before[total]
