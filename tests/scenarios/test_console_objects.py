"""Pages of objects: explained, honest when they go, with a history that says who changed what."""

from __future__ import annotations

from typing import Any

from quintant.api.core import (
    ConfigMap,
    Namespace,
    Node,
    Secret,
    Service,
    ServicePort,
    ServiceSpec,
)
from quintant.api.meta import Condition
from quintant.core.clock import timestamp
from quintant.core.object import Custom, Model, ObjectMeta, replace
from quintant.core.owner import owned
from quintant.core.resource import resource
from quintant.operators import OPERATORS
from quintant.operators.shifu.api.device import (
    EdgeDevice,
    EdgeDeviceSpec,
    EdgeDeviceStatus,
    PlacementStatus,
)
from quintant.operators.shifu.api.node import EdgeNode, EdgeNodeSpec, EdgeNodeStatus
from quintant.testing import InProcessCluster, named
from quintant.testing.faults.match import watch
from testbeds.console import events_of, running_console


class GadgetSpec(Model):
    size: int = 0
    """How big."""
    password: str = ""
    """What no console shows."""


class GadgetStatus(Model):
    phase: str = ""
    """How far."""
    conditions: tuple[Condition, ...] = ()
    """What is true of it."""


@resource(group="strangers.dev", version="v1", status=True, columns={"Size": ".spec.size"})
class Gadget(Custom[GadgetSpec, GadgetStatus]):
    """A kind of a stranger."""


PAGE = "object/strangers.dev/v1/gadgets/default/a"


async def test_a_page_shows_conditions_events_children_and_yaml_without_secrets(
    cluster: InProcessCluster,
) -> None:
    async with running_console(cluster) as console:
        gadget = await cluster.create(
            Gadget(metadata=named("a"), spec=GadgetSpec(size=1, password="hunter2"))
        )
        ports = (ServicePort(port=80),)
        child = Service(metadata=named("child"), spec=ServiceSpec(ports=ports))
        await cluster.create(owned(child, by=gadget))
        ready = Condition(type="Ready", status="False", reason="Broken", message="it leaks")
        await cluster.client.set_status(gadget, GadgetStatus(conditions=(ready,)))
        await cluster.advance(2)
        rows = await console.rows(PAGE)
        shown = rows["object"]
        assert (shown["kind"], shown["state"], shown["sentence"]) == (
            "Gadget",
            "broken",
            "it leaks",
        )
        assert "hunter2" not in str(rows)
        assert "managedFields" not in shown["yaml"]
        condition = rows["condition/Ready"]
        assert (condition["state"], condition["reason"]) == ("broken", "Broken")
        assert condition["meaning"]
        await cluster.advance(2)
        rows = await console.rows(PAGE)
        children = [row for key, row in rows.items() if key.startswith("child/")]
        assert [(each["kind"], each["name"]) for each in children] == [("Service", "child")]


async def test_a_change_is_in_the_history_with_old_new_and_who(cluster: InProcessCluster) -> None:
    async with running_console(cluster) as console:
        gadget = await cluster.create(Gadget(metadata=named("a"), spec=GadgetSpec(size=1)))
        await cluster.advance(1)
        editor = cluster.client.with_field_manager("kubectl-edit")
        await editor.patch(replace(gadget, spec=GadgetSpec(size=2)), since=gadget)
        await cluster.advance(2)
        changes = [row for key, row in (await console.rows(PAGE)).items() if key[:7] == "change/"]
        (change,) = [each for each in changes if each["field"] == ".spec.size"]
        assert (change["old"], change["new"], change["manager"]) == ("1", "2", "kubectl-edit")
        listed = (await console.rows("changes/default")).values()
        assert [each["field"] for each in listed if each["old"]] == [".spec.size"]
        assert (await console.rows("changes/elsewhere")) == {}
        await cluster.advance(660)
        assert (await console.rows("changes/-")) == {}


async def test_an_object_that_is_deleted_says_so_and_its_namesake_is_another(
    cluster: InProcessCluster,
) -> None:
    async with running_console(cluster) as console:
        first = await cluster.create(Gadget(metadata=named("a"), spec=GadgetSpec(size=1)))
        await cluster.advance(1)
        line = console.open(f"/api/stream?topic={PAGE.replace('/', '%2F')}")
        await cluster.advance(1)
        await cluster.client.delete(first)
        await cluster.advance(1)
        shown = (await console.rows(PAGE))["object"]
        assert shown["deleted"]
        assert shown["sentence"].startswith("deleted at")
        second = await cluster.create(Gadget(metadata=named("a"), spec=GadgetSpec(size=7)))
        await cluster.advance(1)
        rows = await console.rows(PAGE)
        assert (rows["object"]["uid"], rows["object"]["deleted"]) == (second.metadata.uid, None)
        changes = [row for key, row in rows.items() if key.startswith("change/")]
        assert [each["new"] for each in changes] == ["created"]
        line.hang_up()
        assert next(name for name, _ in events_of(line.got)) == "snapshot"


async def test_an_object_that_is_not_there_has_an_empty_page_until_it_comes(
    cluster: InProcessCluster,
) -> None:
    await cluster.install(Gadget)
    async with running_console(cluster) as console:
        assert await console.rows(PAGE) == {}
        await cluster.create(Gadget(metadata=named("a"), spec=GadgetSpec()))
        await cluster.advance(1)
        assert "object" in await console.rows(PAGE)


async def test_neither_secrets_nor_config_maps_have_pages(cluster: InProcessCluster) -> None:
    await cluster.create(Secret(metadata=named("s")))
    await cluster.create(ConfigMap(metadata=named("c")))
    async with running_console(cluster) as console:
        for path in ("core/v1/secrets/default/s", "core/v1/configmaps/default/c"):
            assert (await console.get(f"/api/topics/object/{path}")).status == 404


DEVICE_PAGE = "object/shifu.edgenesis.io/v1alpha1/edgedevices/default/camera"


async def test_a_condition_links_to_the_docs_of_its_operator_which_the_console_has_itself(
    cluster: InProcessCluster,
) -> None:
    async with running_console(cluster) as console:
        camera = await cluster.create(EdgeDevice(metadata=named("camera"), spec=EdgeDeviceSpec()))
        ready = Condition(type="Ready", status="False", reason="NoAgent", message="no pod")
        await cluster.client.set_status(camera, EdgeDeviceStatus(conditions=(ready,)))
        await cluster.advance(2)
        assert (await console.rows(DEVICE_PAGE))["condition/Ready"]["docs"] == "/docs/shifu"
        assert (await console.topic("panel/shifu"))["meta"]["docs"] == "/docs/shifu"
        page = await console.get("/docs/shifu")
        text = page.body.decode()
        assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert '<h1 id="shifu-the-contract">shifu: the contract</h1>' in text
        assert "<td>no pod ready for 10 s</td>" in text
        assert (await console.get("/docs/nobody")).status == 404


async def test_every_operator_has_docs_and_a_kind_of_a_stranger_has_none(
    cluster: InProcessCluster,
) -> None:
    async with running_console(cluster) as console:
        for name in OPERATORS:
            assert (await console.get(f"/docs/{name}")).status == 200
        await cluster.create(Gadget(metadata=named("a"), spec=GadgetSpec()))
        await cluster.advance(2)
        assert (await console.topic("panel/strangers.dev"))["meta"]["docs"] == ""


async def test_tables_without_javascript_say_how_old_they_are_and_what_was_not_live(
    cluster: InProcessCluster,
) -> None:
    cluster.faults.answer(403, when=watch(Node))
    async with running_console(cluster) as console:
        await cluster.create(Gadget(metadata=named("a"), spec=GadgetSpec(size=7)))
        await cluster.advance(5)
        overview = (await console.get("/plain")).body.decode()
        assert '<a href="/plain/systems/strangers.dev">strangers.dev</a>' in overview
        assert f"As of {timestamp(cluster.clock.now())}" in overview
        assert "nodes: not live since" in overview
        panel = (await console.get("/plain/systems/strangers.dev")).body.decode()
        assert "<td>7</td>" in panel
        link = "/plain/objects/strangers.dev/v1/gadgets/default/a"
        assert f'<a href="{link}">open</a>' in panel
        page = (await console.get(link)).body.decode()
        assert "<dt>kind</dt><dd>Gadget</dd>" in page
        assert "size: 7" in page
        assert (await console.get("/plain/changes/default")).status == 200


HOSTILE = "<script>alert(1)</script>\u202egnp.exe"


async def test_hostile_objects_are_shown_as_text_and_cut(cluster: InProcessCluster) -> None:
    async with running_console(cluster) as console:
        meta = replace(named("a"), annotations={"note": HOSTILE, "big": "x" * 100_000})
        gadget = await cluster.create(Gadget(metadata=meta, spec=GadgetSpec()))
        conditions = tuple(
            Condition(type=f"T{number}", status="True", message=HOSTILE + "y" * 1000)
            for number in range(500)
        )
        await cluster.client.set_status(
            gadget, GadgetStatus(phase="Nobody knows", conditions=conditions)
        )
        await cluster.advance(2)
        (row,) = (await console.rows("panel/strangers.dev")).values()
        assert row["state"] == "unknown"
        rows = await console.rows(PAGE)
        assert len(rows["object"]["annotations"]["big"]) < 3000
        assert 0 < sum(key.startswith("condition/") for key in rows) <= 100
        page = await console.get("/plain/objects/strangers.dev/v1/gadgets/default/a")
        assert page.status == 200
        assert b"<script>" not in page.body
        assert "\u202e" not in page.body.decode()


async def test_devices_are_on_the_map_and_a_move_is_in_the_timeline(
    cluster: InProcessCluster,
) -> None:
    async with running_console(cluster) as console:
        await cluster.create(Namespace(metadata=ObjectMeta(name="devices")))
        for name in ("paris", "berlin"):
            await cluster.create(Node(metadata=ObjectMeta(name=name)))
            node = await cluster.create(
                EdgeNode(metadata=ObjectMeta(name=name), spec=EdgeNodeSpec())
            )
            await cluster.client.set_status(node, EdgeNodeStatus(phase="Ready"))
        camera = await cluster.create(
            EdgeDevice(
                metadata=named("camera", "devices"),
                spec=EdgeDeviceSpec(sku="lens", protocol="HTTP"),
            )
        )
        await _place(cluster, camera, "paris")
        row = (await console.rows("edgemap"))["device/devices/camera"]
        assert (row["node"], row["link_state"], row["reason"]) == ("paris", "attached", "near")
        lost = await cluster.get(EdgeNode, "paris", "")
        await cluster.client.set_status(lost, EdgeNodeStatus(phase="Lost"))
        await cluster.advance(1)
        await _place(cluster, camera, "berlin", "nearest, 878 km")
        topic = await console.topic("edgemap")
        (move,) = topic["meta"]["timeline"]
        assert (move["from"], move["to"]) == ("paris", "berlin")
        words = "paris: its kubelet reports no more: its devices go to other nodes; nearest, 878 km"
        assert move["cause"] == words
        assert topic["rows"]["node/berlin"]["devices"] == 1
        assert topic["rows"]["node/paris"]["devices"] == 0
        text = (await console.get("/api/edgemap.txt")).body.decode()
        assert text == "[berlin] --> [camera]\n[paris]\n[camera] --> [berlin]\n"


async def _place(
    cluster: InProcessCluster, device: EdgeDevice, node: str, reason: str = "near"
) -> None:
    placement = PlacementStatus(node_name=node, reason=reason)
    status: Any = EdgeDeviceStatus(phase="Running", placement=placement)
    await cluster.client.set_status(device, status)
    await cluster.advance(2)
