"""Generated definitions on a real API server: accepted as structural, and meant as written."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec
import pytest
import pytest_asyncio
from msgspec import Meta

from quintant import Client, Column, Custom, Model, ObjectMeta, Opaque, Scale, replace, resource
from quintant.api.apiextensions import CustomResourceDefinition
from quintant.client.http.transport import HttpTransport
from quintant.client.rest import MERGE
from quintant.client.transport import ApiRequest
from quintant.core import codec
from quintant.core.errors import Conflict, Invalid
from quintant.core.resource import resource_of
from quintant.core.schema.markers import (
    cel,
    default,
    deprecated,
    duration,
    embedded,
    immutable,
    int_or_string,
    list_atomic,
    list_map,
    list_set,
    preserve_unknown,
    quantity,
)
from quintant.core.schema.preserve_unknown import PreserveUnknown
from quintant.runtime.manager.install_crds import install_crds

NAMESPACE = "default"
Port = Annotated[int, Meta(ge=1, le=65535)]


class Mode(StrEnum):
    SLOW = "slow"
    FAST = "fast"


class Relay(Model):
    """Where ships call."""

    name: str
    url: Annotated[str, Meta(pattern="^wss://", description="Where it listens.")]


class Tree(Model):
    name: str
    kids: tuple[Annotated[Tree, preserve_unknown()], ...] = ()


class Chart(Model):
    """A text of another tool, of which the harbour is known."""

    harbour: Annotated[PreserveUnknown[Relay], cel("self.name != 'nowhere'", "it is somewhere")]


class FleetSpec(Model):
    """What a fleet is made of."""

    relays: Annotated[tuple[Relay, ...], Meta(min_length=1, max_length=8), list_map("name")]
    size: Annotated[Literal["small", "large"] | None, default("small")] = None
    replicas: Annotated[Annotated[int, Meta(ge=0)] | None, default(1)] = None
    zone: Annotated[str | None, immutable()] = None
    namespace: Annotated[str | None, immutable()] = None
    mode: Mode | None = None
    port: Port | None = None
    ratio: Annotated[float | None, Meta(gt=0, lt=1)] = None
    step: Annotated[int | None, Meta(multiple_of=5)] = None
    surge: int | str | None = None
    limit: Annotated[Any, int_or_string()] = None
    memory: Annotated[int | str | None, quantity()] = None
    disk: Annotated[str, quantity()] = ""
    pause: Annotated[str, duration()] = ""
    secret: bytes = b""
    since: datetime | None = None
    labels: Annotated[Mapping[str, str], Meta(max_length=2)] = {}
    ports: Annotated[tuple[Port, ...], list_set(), Meta(max_length=4)] = ()
    args: Annotated[tuple[str, ...], list_atomic()] = ()
    tags: frozenset[str] = frozenset()
    tree: Tree | None = None
    extra: Annotated[Relay | None, preserve_unknown()] = None
    chart: Annotated[PreserveUnknown[Chart], cel("self.harbour.name != ''")] | None = None
    template: Annotated[Opaque | None, embedded()] = None
    anything: Any = None
    node_ip: Annotated[str, deprecated("use zone")] = msgspec.field(default="", name="nodeIP")
    window: Annotated[
        tuple[int, ...],
        Meta(max_length=2),
        cel("self.size() != 1", "a window has two ends, or none"),
    ] = ()


class FleetStatus(Model):
    replicas: int = 0
    selector: str = ""
    phase: str = ""


@resource(
    group="real.quintant.dev",
    version="v1",
    status=True,
    short=["flt"],
    categories=["ships"],
    columns={
        "Phase": ".status.phase",
        "Replicas": ".spec.replicas",
        "First": ".spec.relays[0].url",
        "App": Column(r".metadata.labels.app\.kubernetes\.io/name", priority=1),
        "Age": ".metadata.creationTimestamp",
    },
    rules=[
        cel(
            "self.spec.size != 'large' || self.spec.replicas > 1",
            "a large fleet has two ships",
            reason="FieldValueForbidden",
            path=".spec.size",
        )
    ],
    scale=Scale(selector=".status.selector"),
    selectable=[".spec.size"],
)
class Fleet(Custom[FleetSpec, FleetStatus]):
    """Ships that sail together."""


@resource(
    group="real.quintant.dev",
    version="v1alpha1",
    kind="Fleet",
    status=True,
    storage=False,
    deprecated="real.quintant.dev/v1alpha1 Fleet sails no more",
)
class OldFleet(Custom[FleetSpec, FleetStatus]):
    """Ships of old."""


RELAY = Relay(name="a", url="wss://a")
COLLECTION = resource_of(Fleet).path(NAMESPACE)


def fleet(**fields: Any) -> Fleet:
    return Fleet(
        metadata=ObjectMeta(generate_name="fleet-", namespace=NAMESPACE),
        spec=FleetSpec(**{"relays": (RELAY,), **fields}),
    )


@pytest_asyncio.fixture(autouse=True)
async def kinds(transport: HttpTransport, client: Client) -> AsyncIterator[None]:
    await install_crds(transport, [Fleet, OldFleet])
    yield
    await client.raw("DELETE", COLLECTION)


async def refused(client: Client, obj: Fleet) -> str:
    """What the server says to an object it does not want."""
    with pytest.raises(Invalid) as caught:
        await client.create(obj)
    return caught.value.message


async def refused_change(client: Client, obj: Fleet, **changes: Any) -> str:
    """What the server says to a merge patch of the spec it does not want."""
    with pytest.raises(Invalid) as caught:
        await client.raw(
            "PATCH",
            f"{COLLECTION}/{obj.metadata.name}",
            body=codec.encode({"spec": changes}),
            headers={"content-type": MERGE},
        )
    return caught.value.message


async def test_unknown_fields_are_kept_beside_named_ones_that_are_checked(client: Client) -> None:
    plain = {"harbour": {"name": "a", "url": "wss://a", "depth": {"m": [3]}}, "scale": 2}
    made = await client.create(fleet(chart=PreserveUnknown.from_plain(Chart, plain)))
    assert made.spec.chart is not None
    assert made.spec.chart.value == plain
    assert made.spec.chart.known.harbour.known == RELAY
    for name, why in (("nowhere", "it is somewhere"), ("", "failed rule: self.harbour.name")):
        wrong = {"harbour": {"name": name, "url": "wss://a"}}
        assert why in await refused(client, fleet(chart=PreserveUnknown.from_plain(Chart, wrong)))
    missing = fleet(chart=PreserveUnknown.from_plain(Chart, {"scale": 2}))
    assert "spec.chart.harbour: Required value" in await refused(client, missing)


async def test_the_definition_is_established_and_structural(client: Client) -> None:
    found = await client.get(CustomResourceDefinition, "fleets.real.quintant.dev")
    conditions = {each.type: each.status for each in found.status.conditions or ()}
    assert conditions == {"NamesAccepted": "True", "Established": "True"}
    assert found.status.accepted_names.short_names == ("flt",)


async def test_every_type_comes_back_as_it_was_sent(client: Client) -> None:
    sent = FleetSpec(
        relays=(RELAY, Relay(name="b", url="wss://b")),
        size="small",
        replicas=0,
        zone="north",
        mode=Mode.FAST,
        port=80,
        ratio=0.5,
        step=10,
        surge="25%",
        limit=3,
        memory=512,
        disk="1.5Gi",
        pause="1h30m",
        secret=b"\x00\xff",
        since=datetime(2026, 1, 1, tzinfo=UTC),
        labels={"a": "b"},
        ports=(80, 443),
        args=("--on", "--on"),
        tags=frozenset({"x"}),
        tree=Tree(name="root", kids=(Tree(name="leaf"),)),
        anything={"deep": [1, None, {"x": True}]},
        node_ip="10.0.0.1",
        window=(1, 2),
    )
    stored = await client.create(replace(fleet(), spec=sent))
    assert stored.spec == sent


async def test_the_server_fills_in_defaults(client: Client) -> None:
    stored = await client.create(fleet())
    assert stored.spec.size == "small"
    assert stored.spec.replicas == 1
    assert (await client.create(fleet(replicas=0))).spec.replicas == 0


async def test_unknown_fields_are_kept_only_where_the_author_says_so(client: Client) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "unheard": 1}
    kids = [{"name": "a", "kids": [{"name": "b", "fruit": "fig"}]}]
    plain = codec.to_plain(fleet())
    plain["spec"] |= {
        "unheard": 1,
        "extra": {"name": "e", "url": "wss://e", "unheard": 2},
        "template": pod,
        "tree": {"name": "t", "unheard": 3, "kids": kids},
    }
    raw = await client.raw(
        "POST",
        COLLECTION,
        body=codec.encode(plain),
        headers={"content-type": "application/json"},
    )
    spec = msgspec.json.decode(raw)["spec"]
    assert "unheard" not in spec
    assert spec["extra"]["unheard"] == 2
    assert spec["template"] == pod
    assert spec["tree"] == {"name": "t", "kids": kids}


async def test_an_immutable_field_is_neither_changed_nor_removed(client: Client) -> None:
    stored = await client.create(fleet(zone="north", namespace="a"))
    said = await refused_change(client, stored, zone="south")
    # Up to Kubernetes 1.33, a rule that fails shows the type of the value instead of the value.
    assert re.search(r'spec.zone: Invalid value: "\w+": this field cannot be changed', said)
    assert "zone cannot be removed" in await refused_change(client, stored, zone=None)
    assert "namespace cannot be removed" in await refused_change(client, stored, namespace=None)


async def test_an_immutable_field_may_be_set_once(client: Client) -> None:
    stored = await client.create(fleet())
    zoned = replace(stored, spec=replace(stored.spec, zone="north"))
    assert (await client.patch(zoned, since=stored)).spec.zone == "north"


async def test_rules_of_the_kind_and_of_its_fields_hold(client: Client) -> None:
    assert "spec.size: Forbidden: a large fleet has two ships" in await refused(
        client, fleet(size="large")
    )
    assert "a window has two ends, or none" in await refused(client, fleet(window=(1,)))
    await client.create(fleet(size="large", replicas=2, window=(1, 2)))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("relays", ()),
        ("relays", (RELAY, RELAY)),
        ("relays", (Relay(name="a", url="http://a"),)),
        ("size", "huge"),
        ("mode", "idle"),
        ("port", 0),
        ("ratio", 1.0),
        ("step", 7),
        ("surge", 1.5),
        ("limit", [1]),
        ("memory", "1Zi"),
        ("disk", "much"),
        ("pause", "3 days"),
        ("labels", {"a": "", "b": "", "c": ""}),
        ("ports", (1, 1)),
        ("template", Opaque.of({"kind": "Pod"})),
    ],
)
async def test_values_outside_the_schema_are_refused_by_field(
    client: Client, field: str, value: Any
) -> None:
    assert f"spec.{field}" in await refused(client, fleet(**{field: value}))


async def test_appliers_share_a_list_that_is_a_map(client: Client) -> None:
    stored = await client.create(fleet())
    other = Relay(name="b", url="wss://b")
    mine = Fleet(
        metadata=ObjectMeta(name=stored.metadata.name, namespace=NAMESPACE),
        spec=FleetSpec(relays=(other,)),
    )
    merged = await client.with_field_manager("somebody").apply(mine)
    assert merged.spec.relays == (RELAY, other)


async def test_status_and_scale_are_subresources(client: Client) -> None:
    stored = await client.create(fleet())
    await client.set_status(stored, FleetStatus(replicas=1, selector="app=fleet", phase="Sailing"))
    scale = await client.subresource(stored, "scale").patch({"spec": {"replicas": 3}})
    assert scale["status"] == {"replicas": 1, "selector": "app=fleet"}
    found = await client.get(Fleet, *stored.key)
    assert found.spec.replicas == 3
    assert found.status is not None
    assert found.status.phase == "Sailing"


async def test_a_stale_patch_is_a_conflict(client: Client) -> None:
    stored = await client.create(fleet())
    moved = replace(stored, spec=replace(stored.spec, port=80))
    await client.patch(moved, since=stored)
    with pytest.raises(Conflict):
        await client.patch(moved, since=stored)


async def test_selectable_fields_select(client: Client) -> None:
    small = await client.create(fleet())
    await client.create(fleet(size="large", replicas=2))
    found = await client.list(Fleet, NAMESPACE, fields={"spec.size": "small"})
    assert [each.key for each in found] == [small.key]


async def test_columns_are_printed_with_their_types(client: Client) -> None:
    stored = await client.create(fleet())
    accept = "application/json;as=Table;g=meta.k8s.io;v=v1"
    raw = await client.raw("GET", COLLECTION, headers={"accept": accept})
    table = msgspec.json.decode(raw)
    columns = {
        each["name"]: (each["type"], each["priority"]) for each in table["columnDefinitions"]
    }
    assert columns == {
        "Name": ("string", 0),
        "Phase": ("string", 0),
        "Replicas": ("integer", 0),
        "First": ("string", 0),
        "App": ("string", 1),
        "Age": ("date", 0),
    }
    (row,) = table["rows"]
    assert row["cells"][:4] == [stored.metadata.name, None, 1, "wss://a"]


async def test_both_versions_serve_and_the_old_one_warns(
    client: Client, transport: HttpTransport
) -> None:
    stored = await client.create(fleet(zone="north"))
    old = await client.get(OldFleet, *stored.key)
    assert old.spec == stored.spec
    reply = await transport.request(ApiRequest("GET", resource_of(OldFleet).path(NAMESPACE)))
    assert "sails no more" in reply.headers["warning"]
