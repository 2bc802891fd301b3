"""Promises that hold for every built-in kind, whichever module it lives in."""

from __future__ import annotations

import importlib
import pkgutil
import re

import pytest

import quintant.api
from quintant.api import core
from quintant.core.codec import decoder, encode
from quintant.core.object import Model, Object
from quintant.core.resource import resource_of
from quintant.core.schema.openapi import model_schema

MODULES = [
    importlib.import_module(f"quintant.api.{module.name}")
    for module in pkgutil.iter_modules(quintant.api.__path__)
]
MODELS = [
    value
    for module in MODULES
    for value in vars(module).values()
    if isinstance(value, type) and issubclass(value, Model) and value.__module__ == module.__name__
]
KINDS = [model for model in MODELS if issubclass(model, Object) and "__resource__" in vars(model)]
# How camelCase would spell what Kubernetes writes in capitals.
MISSPELT = re.compile(r"(Ip|Ips|Id|Uid|Url|Urls|Cidr|Cidrs|Uuid|Api|Pid|Ipc|Fqdn)$")


def wire_names(schema: dict[str, object]) -> set[str]:
    names: set[str] = set()
    for name, value in schema.items():
        if name == "properties" and isinstance(value, dict):
            names |= set(value)
            for inner in value.values():
                names |= wire_names(inner)
        elif name in ("items", "additionalProperties") and isinstance(value, dict):
            names |= wire_names(value)
    return names


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_every_kind_decodes_from_bare_metadata_or_says_what_it_needs(kind: type[Object]) -> None:
    required = model_schema(kind).get("required", [])
    assert set(required) <= {"spec", "roleRef", "webhooks"}
    if not required:
        found = decoder(kind).decode(b'{"metadata":{"name":"a"}}')
        assert encode(found) == b'{"metadata":{"name":"a"}}'


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_wire_names_write_acronyms_in_capitals(kind: type[Object]) -> None:
    wrong = {name for name in wire_names(model_schema(kind)) if MISSPELT.search(name)}
    assert not wrong


@pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{model.__module__}.{model.__name__}")
def test_every_model_says_what_it_is(model: type[Model]) -> None:
    assert vars(model).get("__doc__")


def test_kinds_have_distinct_places_on_the_server() -> None:
    places = [(resource_of(kind).api_version, resource_of(kind).plural) for kind in KINDS]
    assert len(places) == len(set(places))


def test_core_offers_every_model_of_its_parts_by_one_import() -> None:
    parts = {"container", "core", "node", "pod", "scheduling", "service", "volume"}
    models = {m.__name__ for m in MODELS if m.__module__.removeprefix("quintant.api.") in parts}
    assert models <= set(core.__all__)
    assert core.__all__ == sorted(core.__all__)
