"""What goes wrong around the console is shown where it belongs, and is over by itself."""

from __future__ import annotations

from quintant.api.core import Container, Node, Pod, PodSpec
from quintant.core.object import ObjectMeta, replace
from quintant.operators.portal.api import (
    App,
    PortalExpose,
    PortalExposeSpec,
    PortalExposeStatus,
    RelaySpec,
    RelayTarget,
    ServiceRef,
)
from quintant.operators.shifu.api.device import EdgeDevice, EdgeDeviceSpec, EdgeDeviceStatus
from quintant.testing import InProcessCluster, named
from quintant.testing.faults.match import watch
from testbeds.console import ConsoleBed, events_of, running_console

LOST = 3600.0
"""How long a tab may be asleep."""


def live(console: ConsoleBed, name: str) -> bool:
    return console.console.sources.states()[name].live


async def test_an_expired_watch_is_read_again_and_nothing_is_missed(
    cluster: InProcessCluster,
) -> None:
    async with running_console(cluster) as console:
        await cluster.create(Node(metadata=ObjectMeta(name="a")))
        await cluster.advance(1)
        assert cluster.faults.fail(410, watch(Node))
        await cluster.create(Node(metadata=ObjectMeta(name="b")))
        await cluster.advance(10)
        assert sorted(await console.rows("nodes")) == ["a", "b"]
        assert live(console, "nodes")


async def test_a_kind_that_is_throttled_says_so_and_comes_back(cluster: InProcessCluster) -> None:
    async with running_console(cluster) as console:
        await cluster.advance(1)
        with cluster.faults.answer(429, retry_after=1, when=watch(Pod)):
            cluster.faults.cut(watch(Pod))
            await cluster.advance(10)
            states = console.console.sources.states()
            assert not states["pods"].live
            assert states["pods"].reason
            assert states["nodes"].live
        await cluster.advance(60)
        assert live(console, "pods")


async def test_since_when_a_kind_is_not_live_does_not_move_while_it_lasts(
    cluster: InProcessCluster,
) -> None:
    cluster.faults.answer(403, when=watch(Node))
    async with running_console(cluster) as console:
        await cluster.advance(20)
        first = console.console.sources.states()["nodes"]
        await cluster.advance(40)
        assert console.console.sources.states()["nodes"].since == first.since


async def test_a_tab_that_slept_for_an_hour_has_everything_with_one_snapshot(
    cluster: InProcessCluster,
) -> None:
    async with running_console(cluster) as console:
        await cluster.install(EdgeDevice)
        await cluster.advance(1)
        line = console.open("/api/stream?topic=panel%2Fshifu")
        await cluster.advance(1)
        line.hang_up()
        for number in range(30):
            await cluster.create(EdgeDevice(metadata=named(f"d{number}"), spec=EdgeDeviceSpec()))
            await cluster.advance(LOST / 30)
        woken = console.open("/api/stream?topic=panel%2Fshifu")
        await cluster.advance(2)
        woken.hang_up()
        snapshots = [data for name, data in events_of(woken.got) if name == "snapshot"]
        assert [len(each["rows"]) for each in snapshots] == [30]


async def test_only_addresses_of_the_web_are_links(cluster: InProcessCluster) -> None:
    async with running_console(cluster) as console:
        relays = RelaySpec(targets=(RelayTarget(name="r", url="wss://relay.example/relay"),))
        app = App(name="web", service=ServiceRef(name="web", port=80))
        spec = PortalExposeSpec(app=app, relay=relays)
        for name, url in (("a", "javascript:alert(1)"), ("b", "https://web.example/")):
            expose = await cluster.create(PortalExpose(metadata=named(name), spec=spec))
            status = PortalExposeStatus(phase="Ready", public_url=url)
            await cluster.client.set_status(expose, status)
        await cluster.advance(2)
        rows = (await console.rows("panel/portal")).values()
        urls = {row["name"]: row["url"] for row in rows}
        assert urls == {"a": None, "b": "https://web.example/"}
        page = (await console.get("/plain/systems/portal")).body.decode()
        assert 'href="javascript' not in page
        assert 'href="https://web.example/"' in page


async def test_a_phase_that_nobody_knows_and_a_status_that_does_not_fit_are_unknown(
    cluster: InProcessCluster,
) -> None:
    async with running_console(cluster) as console:
        device = await cluster.create(EdgeDevice(metadata=named("a"), spec=EdgeDeviceSpec()))
        await cluster.client.set_status(device, EdgeDeviceStatus(phase="Levitating"))
        await cluster.advance(2)
        (row,) = (await console.rows("panel/shifu")).values()
        assert (row["state"], row["cells"][3]) == ("unknown", "Levitating")


async def test_operators_without_a_proxy_to_their_pods_have_no_figures_and_say_why(
    cluster: InProcessCluster,
) -> None:
    async with running_console(cluster) as console:
        labels = {"app.kubernetes.io/name": "shifu"}
        spec = PodSpec(containers=(Container(name="shifu", image="quintant:1.2"),))
        await cluster.create(Pod(metadata=replace(named("shifu-0"), labels=labels), spec=spec))
        await cluster.advance(15)
        row = (await console.rows("overview"))["operator/shifu"]
        assert (row["replicas"], row["ready"], row["version"]) == (1, 0, "1.2")
        assert row["reconcile_rate"] is None
        assert row["figures"].startswith("no figures: ")
