"""What klight counts and measures."""

from __future__ import annotations

from testbeds.klight import KlightTestbed, Mood


def series(testbed: KlightTestbed) -> dict[str, float]:
    assert testbed.engine is not None
    lines = testbed.engine.metrics.render().decode().splitlines()
    pairs = (line.rpartition(" ") for line in lines if line.startswith("klight_"))
    return {name: float(value) for name, _, value in pairs}


async def test_joins_members_and_stacks_are_measured(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1", "p2", "p3")
    await testbed.pod("p4", peer={"mood": Mood.DEAD})
    await testbed.cluster.advance(2)
    found = series(testbed)
    assert found['klight_joins_total{result="founded"}'] == 1
    assert found['klight_joins_total{result="joined"}'] == 2
    assert found['klight_members{namespace="default",network="a",state="Up"}'] == 3
    assert found['klight_members{namespace="default",network="a",state="Waiting"}'] == 1
    assert found['klight_stack_depth{namespace="default",network="a"}'] == 3
    assert found["klight_networks"] == 1
    assert found["klight_join_seconds_count"] == 2


async def test_failed_checks_are_counted(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1", "p2")
    testbed.peers.kill(await testbed.address("p2"))
    await testbed.cluster.advance(15)
    assert series(testbed)["klight_probe_failures_total"] >= 1


async def test_series_of_a_network_go_with_it(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1")
    await testbed.shown()
    await testbed.delete("p1")
    await testbed.cluster.advance(400)
    assert not [name for name in series(testbed) if 'network="a"' in name]


async def test_rebuild_is_measured_after_a_restart(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1", "p2")
    testbed.peers.models[await testbed.address("p2")].mood = Mood.SILENT
    await testbed.restart()
    await testbed.cluster.advance(5)
    # A silent member is asked twice, for a second and for two.
    assert series(testbed)["klight_rebuild_seconds"] == 3.0
