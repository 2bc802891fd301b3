"""A deviceShifu from its EdgeDevice and ConfigMap to the status it writes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from quintant.agents.deviceshifu.drivers.address import DeviceDialer
from quintant.agents.deviceshifu.options import AgentOptions
from quintant.agents.deviceshifu.shifu import DeviceShifu
from quintant.agents.dns.host_resolver import HostResolver
from quintant.http.request import Request
from quintant.http.response import Response
from quintant.http.server import serving
from quintant.testing.loop import advance
from testbeds.devices import NAME, ModelledCluster, bench, edge_device, until

FAST = """
telemetrySettings:
  telemetryUpdateIntervalInMilliseconds: 50
  telemetryInitialDelayInMilliseconds: 0
  telemetryTimeoutInMilliseconds: 500
telemetries:
  health: {properties: {instruction: read}}
"""
CONFIG = {"instructions": "instructions:\n  read:\n", "telemetries": FAST}


class Switch:
    """A device that can be turned off."""

    def __init__(self) -> None:
        self.status, self.said = 200, b"21"
        self.pushed: list[tuple[str, bytes]] = []

    async def handle(self, request: Request) -> Response:
        if request.method == "POST":
            self.pushed.append((request.field(b"device-name"), await request.body(1000)))
        return Response(self.status, {}, self.said)


@pytest.mark.realtime
async def test_h2_a_device_that_stops_answering_is_failed_and_running_again(tmp_path: Path) -> None:
    device = Switch()
    async with (
        serving(device.handle, "127.0.0.1", 0) as (host, port),
        bench(tmp_path, edge_device("HTTP", f"{host}:{port}"), CONFIG) as made,
    ):
        await until(lambda: made.cluster.phases == ["Running"])
        device.status = 500
        await until(lambda: made.cluster.phases == ["Running", "Failed"])
        [reachable] = made.cluster.statuses[1]["conditions"]
        assert (reachable["type"], reachable["status"]) == ("DeviceReachable", "False")
        assert reachable["message"] == "the device answered 500"
        device.status = 200
        await until(lambda: made.cluster.phases == ["Running", "Failed", "Running"])


@pytest.mark.realtime
async def test_nothing_is_written_while_nothing_changes(tmp_path: Path) -> None:
    device = Switch()
    async with (
        serving(device.handle, "127.0.0.1", 0) as (host, port),
        bench(tmp_path, edge_device("HTTP", f"{host}:{port}"), CONFIG) as made,
    ):
        await until(lambda: made.cluster.phases == ["Running"])
        first = made.shifu.readings["health"].at
        await until(lambda: (made.shifu.readings["health"].at - first).total_seconds() > 1)
        assert made.cluster.phases == ["Running"]


@pytest.mark.realtime
async def test_what_a_device_says_is_cut_and_printable_in_its_status(tmp_path: Path) -> None:
    config = CONFIG | {"telemetries": FAST.replace("instruction: read", "instruction: none")}
    async with (
        serving(Switch().handle, "127.0.0.1", 0) as (host, port),
        bench(tmp_path, edge_device("HTTP", f"{host}\n:{port}" + "x" * 999), config) as made,
    ):
        await until(lambda: made.cluster.phases == ["Failed"])
        said = made.cluster.statuses[0]["conditions"][0]["message"]
        assert len(said) <= 256
        assert said.isprintable()


@pytest.mark.realtime
async def test_a_phase_that_another_overwrote_is_said_again(tmp_path: Path) -> None:
    device = Switch()
    async with (
        serving(device.handle, "127.0.0.1", 0) as (host, port),
        bench(tmp_path, edge_device("HTTP", f"{host}:{port}"), CONFIG) as made,
    ):
        await until(lambda: made.cluster.phases == ["Running"])
        made.cluster.device["metadata"]["resourceVersion"] = "99"
        made.cluster.device["status"] = {"edgedevicephase": "Unknown"}
        made.cluster.changed.set()
        await until(lambda: made.cluster.phases == ["Running", "Running"])


@pytest.mark.realtime
async def test_a_config_map_is_read_again_without_a_restart(tmp_path: Path) -> None:
    device = Switch()
    async with (
        serving(device.handle, "127.0.0.1", 0) as (host, port),
        bench(tmp_path, edge_device("HTTP", f"{host}:{port}"), CONFIG) as made,
    ):
        driver = made.shifu.driver
        assert (await made.ask("/fresh"))[0] == 404
        (tmp_path / "instructions").write_text("instructions:\n  fresh:\n")
        await until(lambda: "fresh" in made.shifu.config.instructions)
        assert await made.text("/fresh") == (200, "21")
        assert made.shifu.driver is driver


@pytest.mark.realtime
async def test_another_address_is_another_driver(tmp_path: Path) -> None:
    device = Switch()
    async with (
        serving(device.handle, "127.0.0.1", 0) as (host, port),
        bench(tmp_path, edge_device("HTTP", "127.0.0.1:1"), CONFIG) as made,
    ):
        assert (await made.ask("/read"))[0] == 503
        made.cluster.change(address=f"{host}:{port}")
        await until(lambda: made.cluster.phases[-1:] == ["Running"])
        assert await made.text("/read") == (200, "21")


@pytest.mark.realtime
async def test_a_broken_section_is_told_once_as_an_event(tmp_path: Path) -> None:
    config = {"instructions": "{", "telemetries": "bogus: 1\ntelemetries:\n"}
    async with bench(tmp_path, edge_device("HTTP", "127.0.0.1:1"), config) as made:
        await until(lambda: len(made.cluster.warnings) == 2)
        assert "this section is off" in made.cluster.warnings[0]
        assert "'bogus' is unknown" in made.cluster.warnings[1]
        (tmp_path / "instructions").write_text("instructions:\n  read:\n")
        await until(lambda: "read" in made.shifu.config.instructions)
        assert len(made.cluster.warnings) == 2


@pytest.mark.realtime
async def test_h12_readings_are_pushed_with_the_devices_name(tmp_path: Path) -> None:
    device, collector = Switch(), Switch()
    pushed = FAST.replace("read}}", "read, pushSettings: {telemetryCollectionService: c}}}")
    async with (
        serving(device.handle, "127.0.0.1", 0) as (host, port),
        serving(collector.handle, "127.0.0.1", 0) as (_, sink),
        bench(
            tmp_path, edge_device("HTTP", f"{host}:{port}"), CONFIG | {"telemetries": pushed},
            c={"spec": {"telemetryServiceEndpoint": f"http://127.0.0.1:{sink}/in"}},
        ) as made,
    ):  # fmt: skip
        await until(lambda: len(collector.pushed) > 2)
        assert set(collector.pushed) == {("edgedevice-bench", b"21")}
        assert made.cluster.phases == ["Running"]


@pytest.mark.realtime
async def test_a_device_without_telemetry_is_running_when_it_takes_connections(
    tmp_path: Path,
) -> None:
    device = Switch()
    async with (
        serving(device.handle, "127.0.0.1", 0) as (host, port),
        bench(tmp_path, edge_device("HTTP", f"{host}:{port}"), {}) as made,
    ):
        await until(lambda: made.cluster.phases == ["Running"])


@asynccontextmanager
async def modelled(
    folder: Path, **spec: object
) -> AsyncIterator[tuple[DeviceShifu, ModelledCluster]]:
    """A deviceShifu under virtual time, of a device that nobody answers for."""
    cluster = ModelledCluster(edge_device("HTTP", "127.0.0.1:1", **spec))
    options = AgentOptions(NAME, node="n1", config=folder)
    dialer = DeviceDialer(HostResolver({}))
    shifu = DeviceShifu(options, cluster, dialer, lambda: datetime(2026, 1, 1, tzinfo=UTC))
    work = asyncio.ensure_future(shifu.run())
    try:
        await advance(1)
        yield shifu, cluster
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)


async def test_an_exclusive_device_is_given_up_when_the_api_is_out_of_reach(
    tmp_path: Path,
) -> None:
    exclusive = {"customMetadata": {"exclusive": "true"}}
    async with modelled(tmp_path, **exclusive) as (shifu, cluster):
        cluster.reachable = False
        await advance(40)
        assert shifu.about["protocol"] == "HTTP"
        await advance(20)
        assert shifu.about["protocol"] == ""
        cluster.device["status"] = {"placement": {"nodeName": "n2"}}
        cluster.reachable = True
        await advance(60)
        assert shifu.about["protocol"] == ""
        cluster.device["status"] = {"placement": {"nodeName": "n1"}}
        await advance(10)
        assert shifu.about["protocol"] == "HTTP"


async def test_any_other_device_is_kept(tmp_path: Path) -> None:
    async with modelled(tmp_path) as (shifu, cluster):
        cluster.reachable = False
        await advance(600)
        assert shifu.about["protocol"] == "HTTP"


async def test_h13_ten_minutes_without_a_change_write_nothing(tmp_path: Path) -> None:
    async with modelled(tmp_path) as (_, cluster):
        await advance(60)
        assert cluster.phases == ["Failed"]
        await advance(600)
        assert cluster.phases == ["Failed"]


async def test_a_status_that_could_not_be_written_is_written_later(tmp_path: Path) -> None:
    async with modelled(tmp_path) as (_, cluster):
        cluster.reachable = False
        await advance(60)
        assert cluster.phases == []
        cluster.reachable = True
        await advance(60)
        assert cluster.phases == ["Failed"]
