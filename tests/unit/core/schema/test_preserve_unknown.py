"""Promises of quintant.core.schema.preserve_unknown: some fields are named, all are kept."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from msgspec import Meta

from quintant.core import codec
from quintant.core.errors import ConfigError, Invalid, Undecodable
from quintant.core.object import Custom, Model, Opaque, replace
from quintant.core.resource import resource
from quintant.core.schema.constraints import PRESERVE
from quintant.core.schema.markers import cel
from quintant.core.schema.openapi import model_schema
from quintant.core.schema.preserve_unknown import PreserveUnknown
from quintant.testing import InProcessCluster, named

TEMPLATE: dict[str, Any] = {
    "version": "1.0",
    "outputs": {"kubeconfig": {"value": 1}, "other": [1, None, {"deep": "x"}]},
    "closed": {"size": 3},
    "node_types": {"tosca.nodes.Root": {"x-y": True}},
    "nothing": None,
}


class Outputs(Model):
    """What comes out."""

    kubeconfig: Opaque


class Closed(Model):
    size: int = 0


class Template(Model):
    """A text of another tool."""

    version: Annotated[str, Meta(min_length=1)]
    outputs: PreserveUnknown[Outputs]
    closed: Closed | None = None


Kept = cel("self.version == oldSelf.version", "a template keeps its version")


class FarmSpec(Model):
    template: Annotated[PreserveUnknown[Template], Kept] | None = None
    more: tuple[PreserveUnknown[Closed], ...] = ()


@resource(
    group="demo.dev",
    version="v1",
    rules=[cel("!has(oldSelf.spec.template) || has(self.spec.template)", "it stays")],
)
class Farm(Custom[FarmSpec, Closed]):
    """Grows."""


def farm(template: Any = TEMPLATE, name: str = "f") -> Farm:
    kept = PreserveUnknown.from_plain(Template, template)
    return Farm(metadata=named(name), spec=FarmSpec(template=kept))


def test_schema_names_fields_and_keeps_the_others_of_each_level() -> None:
    template = model_schema(FarmSpec)["properties"]["template"]

    assert template[PRESERVE] is True
    assert template["required"] == ["version", "outputs"]
    assert template["description"] == "A text of another tool."
    assert template["properties"]["version"] == {"type": "string", "minLength": 1}
    assert template["properties"]["outputs"][PRESERVE] is True
    assert template["properties"]["outputs"]["required"] == ["kubeconfig"]
    assert PRESERVE not in template["properties"]["closed"]
    assert [rule["rule"] for rule in template["x-kubernetes-validations"]] == [Kept.rule]


def test_every_field_survives_reading_and_writing() -> None:
    read = codec.from_plain(Farm, {"metadata": {"name": "f"}, "spec": {"template": TEMPLATE}})

    assert read.spec.template is not None
    assert read.spec.template.value == TEMPLATE
    assert codec.to_plain(read)["spec"]["template"] == TEMPLATE


def test_named_fields_are_typed() -> None:
    template = farm().spec.template

    assert template is not None
    assert template.known.version == "1.0"
    assert template.known.outputs.known.kubeconfig.value == {"value": 1}
    assert template.known.closed == Closed(size=3)


def test_equal_texts_are_equal_and_never_printed() -> None:
    assert farm() == farm()
    assert farm() != farm({**TEMPLATE, "unknown": 1})
    assert "tosca" not in repr(farm())


def test_what_does_not_fit_is_read_and_told_when_it_is_looked_at() -> None:
    read = codec.from_plain(Farm, {"spec": {"template": {"version": 5, "token": "secret"}}})

    assert read.spec.template is not None
    with pytest.raises(Undecodable, match=r"\$\.version") as raised:
        _ = read.spec.template.known
    assert "secret" not in str(raised.value)


def test_null_of_a_named_field_is_absent() -> None:
    assert PreserveUnknown.from_plain(Template, {**TEMPLATE, "closed": None}).known.closed is None
    assert PreserveUnknown.from_plain(Closed, {"size": None}).known.size == 0


def test_struct_may_contain_itself() -> None:
    schema = model_schema(Tree)["properties"]["below"]

    assert schema == {"type": "object", PRESERVE: True}


class Tree(Model):
    below: PreserveUnknown[Tree] | None = None


def test_anything_but_a_model_names_no_fields() -> None:
    class Wrong(Model):
        field: PreserveUnknown[str]  # type: ignore[type-var]

    with pytest.raises(ConfigError, match=r"cannot describe Wrong\.field"):
        model_schema(Wrong)


async def test_server_keeps_unknown_fields_and_checks_the_named_ones(
    cluster: InProcessCluster,
) -> None:
    await cluster.install(Farm)
    made = await cluster.client.apply(farm())

    expected = {**TEMPLATE, "closed": {"size": 3}}
    assert made.spec.template is not None
    assert made.spec.template.value == expected
    for name, wrong, why in (
        ("new", {**TEMPLATE, "version": ""}, "at least 1 char"),
        ("new", {"version": "1.0", "outputs": {}}, "outputs.kubeconfig: Required value"),
        ("f", {**TEMPLATE, "version": "2.0"}, "a template keeps its version"),
    ):
        with pytest.raises(Invalid, match=why):
            await cluster.client.apply(farm(wrong, name))
    with pytest.raises(Invalid, match="it stays"):
        await cluster.client.patch(replace(made, spec=FarmSpec()), since=made)


async def test_field_of_a_closed_struct_within_is_pruned(cluster: InProcessCluster) -> None:
    await cluster.install(Farm)
    made = await cluster.create(farm({**TEMPLATE, "closed": {"size": 1, "unknown": 2}}))

    assert made.spec.template is not None
    assert made.spec.template.value["closed"] == {"size": 1}


async def test_change_of_an_unknown_field_is_patched(cluster: InProcessCluster) -> None:
    await cluster.install(Farm)
    made = await cluster.client.apply(farm())
    assert made.spec.template is not None
    other = {**made.spec.template.value, "node_types": {"mine": {}}}
    changed = FarmSpec(template=PreserveUnknown.from_plain(Template, other))
    patched = await cluster.client.patch(replace(made, spec=changed), since=made)

    assert patched.spec.template is not None
    assert patched.spec.template.value["node_types"] == {"mine": {}}
