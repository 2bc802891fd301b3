"""What klight counts and measures."""

from __future__ import annotations

from testbeds.klight import Mood, Town


def series(town: Town) -> dict[str, float]:
    assert town.engine is not None
    lines = town.engine.metrics.render().decode().splitlines()
    pairs = (line.rpartition(" ") for line in lines if line.startswith("klight_"))
    return {name: float(value) for name, _, value in pairs}


async def test_joins_members_and_stacks_are_measured(town: Town) -> None:
    await town.start()
    await town.add("p1", "p2", "p3")
    await town.pod("p4", peer={"mood": Mood.DEAD})
    await town.cluster.advance(2)
    found = series(town)
    assert found['klight_joins_total{result="founded"}'] == 1
    assert found['klight_joins_total{result="joined"}'] == 2
    assert found['klight_members{namespace="default",network="a",state="Up"}'] == 3
    assert found['klight_members{namespace="default",network="a",state="Waiting"}'] == 1
    assert found['klight_stack_depth{namespace="default",network="a"}'] == 3
    assert found["klight_networks"] == 1
    assert found["klight_join_seconds_count"] == 2


async def test_failed_checks_are_counted(town: Town) -> None:
    await town.start()
    await town.add("p1", "p2")
    town.peers.kill(await town.address("p2"))
    await town.cluster.advance(15)
    assert series(town)["klight_probe_failures_total"] >= 1


async def test_series_of_a_network_go_with_it(town: Town) -> None:
    await town.start()
    await town.add("p1")
    await town.shown()
    await town.delete("p1")
    await town.cluster.advance(400)
    assert not [name for name in series(town) if 'network="a"' in name]


async def test_rebuild_is_measured_after_a_restart(town: Town) -> None:
    await town.start()
    await town.add("p1", "p2")
    town.peers.models[await town.address("p2")].mood = Mood.SILENT
    await town.restart()
    await town.cluster.advance(5)
    # A silent member is asked twice, for a second and for two.
    assert series(town)["klight_rebuild_seconds"] == 3.0
