"""The console stays live and says so: kinds come and go, watches fail, viewers are slow."""

from __future__ import annotations

import asyncio
from typing import Annotated

from msgspec import Meta

from quintant.api.apiextensions import CustomResourceDefinition
from quintant.api.core import Node
from quintant.api.events import Event
from quintant.api.meta import Condition
from quintant.console.boards.events import MOST_EVENTS
from quintant.console.boards.overview import BEATS_PER_POINT, RING, OperatorFigures
from quintant.console.publisher import HEARTBEAT_SECONDS
from quintant.core.clock import micro_timestamp
from quintant.core.object import Custom, Model, ObjectMeta, replace
from quintant.core.resource import resource
from quintant.operators.shifu.api.device import EdgeDevice, EdgeDeviceSpec, EdgeDeviceStatus
from quintant.operators.shifu.api.names import GROUP
from quintant.operators.shifu.api.node import EdgeNode
from quintant.testing import InProcessCluster, named
from quintant.testing.faults.match import watch
from testbeds.console import events_of, running_console

HAPPENED = Event(
    reporting_controller="tests",
    reporting_instance="a",
    action="Look",
    reason="Seen",
    type="Normal",
)


class WidgetSpec(Model):
    size: Annotated[int, Meta(ge=0)] = 0
    """How big."""


class WidgetStatus(Model):
    phase: str = ""
    """How far."""
    conditions: tuple[Condition, ...] = ()
    """What is true of it."""


@resource(group="strangers.dev", version="v1", status=True, columns={"Size": ".spec.size"})
class Widget(Custom[WidgetSpec, WidgetStatus]):
    """A kind that no panel was made for."""


async def test_the_panel_of_an_operator_comes_and_goes_with_its_definitions(
    cluster: InProcessCluster,
) -> None:
    async with running_console(cluster) as console:
        assert (await console.topic("panel/shifu"))["meta"]["installed"] is False
        overview = await console.rows("overview")
        assert overview["system/shifu"]["install"] == "kubectl apply -k deploy/shifu"
        await cluster.install(EdgeDevice, EdgeNode)
        await cluster.create(EdgeDevice(metadata=named("camera"), spec=EdgeDeviceSpec(sku="x")))
        await cluster.advance(2)
        (row,) = (await console.rows("panel/shifu")).values()
        assert (row["kind"], row["name"], row["state"]) == ("EdgeDevice", "camera", "unknown")
        for name in ("edgedevices", "edgenodes"):
            definition = await cluster.get(CustomResourceDefinition, f"{name}.{GROUP}", "")
            await cluster.client.delete(definition)
        await cluster.advance(5)
        topic = await console.topic("panel/shifu")
        assert (topic["rows"], topic["meta"]["installed"]) == ({}, False)


async def test_a_kind_of_a_stranger_has_a_panel_from_its_definition_alone(
    cluster: InProcessCluster,
) -> None:
    async with running_console(cluster) as console:
        await cluster.create(Widget(metadata=named("a"), spec=WidgetSpec(size=3)))
        await cluster.advance(2)
        topic = await console.topic("panel/strangers.dev")
        assert topic["meta"]["kinds"] == [
            {"kind": "Widget", "plural": "widgets",
             "columns": [{"title": "Size", "align": "end"}]}
        ]  # fmt: skip
        (row,) = topic["rows"].values()
        assert (row["cells"], row["state"]) == (["3"], "unknown")


async def test_one_kind_that_may_not_be_read_leaves_the_others_live(
    cluster: InProcessCluster,
) -> None:
    cluster.faults.answer(403, when=watch(Node))
    async with running_console(cluster) as console:
        await cluster.create(Widget(metadata=named("a"), spec=WidgetSpec(size=3)))
        await cluster.advance(3)
        states = console.console.sources.states()
        assert not states["nodes"].live
        assert "403" in states["nodes"].reason or "forbidden" in states["nodes"].reason.lower()
        assert states["pods"].live
        assert len(await console.rows("panel/strangers.dev")) == 1


async def test_a_silent_api_server_is_noticed_within_five_seconds_and_is_over_by_itself(
    cluster: InProcessCluster,
) -> None:
    async with running_console(cluster) as console:
        with cluster.faults.stall():
            await cluster.advance(5)
            assert not any(each.live for each in console.console.sources.states().values())
            assert "silent" in console.console.sources.states()["pods"].reason
        await cluster.advance(60)
        assert all(each.live for each in console.console.sources.states().values())


async def test_a_stream_begins_with_the_whole_state_and_continues_with_changes(
    cluster: InProcessCluster,
) -> None:
    async with running_console(cluster) as console:
        await cluster.install(Widget)
        await cluster.advance(1)
        line = console.open("/api/stream?topic=panel%2Fstrangers.dev")
        await cluster.advance(1)
        widget = await cluster.create(Widget(metadata=named("a"), spec=WidgetSpec(size=3)))
        await cluster.advance(3)
        line.hang_up()
        events = events_of(line.got)
        kinds = [name for name, _ in events]
        assert kinds[0] == "snapshot"
        assert kinds.count("heartbeat") >= 2
        (change,) = [data for name, data in events if name == "change"]
        assert list(change["set"]) == [widget.metadata.uid]


async def test_a_viewer_that_does_not_read_is_not_buffered_without_end(
    cluster: InProcessCluster,
) -> None:
    async with running_console(cluster) as console:
        await cluster.install(EdgeDevice)
        await cluster.advance(1)
        line = console.open("/api/stream?topic=panel%2Fshifu")
        await cluster.advance(1)
        assert line.protocol is not None
        line.protocol.pause_writing()
        before = len(line.got)
        for number in range(50):
            await cluster.create(EdgeDevice(metadata=named(f"d{number}"), spec=EdgeDeviceSpec()))
            await asyncio.sleep(0.3)
        assert len(line.got) - before < 10_000
        line.protocol.resume_writing()
        await cluster.advance(1)
        events = events_of(line.got)
        line.hang_up()
        rows = dict[str, object]()
        for name, data in events:
            rows = {**({} if name == "snapshot" else rows), **data.get("rows", data.get("set", {}))}
        assert len(rows) == 50


async def test_two_objects_of_one_name_one_after_the_other_are_not_mixed_up(
    cluster: InProcessCluster,
) -> None:
    async with running_console(cluster) as console:
        first = await cluster.create(Widget(metadata=named("a"), spec=WidgetSpec(size=1)))
        await cluster.advance(1)
        await cluster.client.delete(first)
        second = await cluster.create(Widget(metadata=named("a"), spec=WidgetSpec(size=2)))
        await cluster.advance(2)
        rows = await console.rows("panel/strangers.dev")
        assert list(rows) == [second.metadata.uid]
        assert first.metadata.uid not in rows


async def test_the_last_two_hundred_events_are_shown_the_others_let_go(
    cluster: InProcessCluster,
) -> None:
    async with running_console(cluster) as console:
        for number in range(MOST_EVENTS + 10):
            time = micro_timestamp(cluster.clock.now())
            await cluster.create(
                replace(HAPPENED, metadata=named(f"e{number}"), event_time=time, note=str(number))
            )
            await cluster.advance(1)
        shown = {int(row["message"]) for row in (await console.rows("events")).values()}
        assert shown == set(range(10, MOST_EVENTS + 10))


async def test_plots_are_of_the_last_minutes_and_never_longer(cluster: InProcessCluster) -> None:
    async with running_console(cluster) as console:
        await cluster.create(EdgeDevice(metadata=named("camera"), spec=EdgeDeviceSpec()))
        device = await cluster.get(EdgeDevice, "camera")
        await cluster.client.set_status(device, EdgeDeviceStatus(phase="Running"))
        await cluster.advance(60)
        assert len((await console.rows("overview"))["plot/shifu-devices"]["points"]) == 6
        await cluster.advance(RING * BEATS_PER_POINT * HEARTBEAT_SECONDS)
        plot = (await console.rows("overview"))["plot/shifu-devices"]
        assert (len(plot["points"]), plot["title"]) == (RING, "Devices that answer")
        times = [at for at, _ in plot["points"]]
        assert times == sorted(times)


async def test_a_plot_of_a_counter_shows_what_the_operator_says_of_itself(
    cluster: InProcessCluster,
) -> None:
    async with running_console(cluster) as console:
        rates = {"portalexpose_visits_total": 2.5}
        console.console.overview.report("portal", OperatorFigures("portal-1", 1.0, 0.0, "", rates))
        await cluster.advance(BEATS_PER_POINT * HEARTBEAT_SECONDS)
        plot = (await console.rows("overview"))["plot/portal-visits"]
        assert (plot["title"], plot["unit"]) == ("Visits", "per second")
        assert [value for _, value in plot["points"]] == [2.5]


async def test_nodes_show_what_their_pods_ask_for(cluster: InProcessCluster) -> None:
    async with running_console(cluster) as console:
        await cluster.create(Node(metadata=ObjectMeta(name="n")))
        await cluster.advance(1)
        row = (await console.rows("nodes"))["n"]
        assert (row["state"], row["pods"]) == ("unknown", 0)
