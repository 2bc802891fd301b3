"""What an object says it is, against where it was sent."""

from __future__ import annotations

from typing import Any

import pytest

from unit.cluster.api import CMS, CRDS, FOOS, api, config_map, foo, foo_definition

SCHEME = 'in scheme "pkg/runtime/scheme.go:111"'


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (
            {"kind": "Other"},
            'Other in version "v1" cannot be handled as a ConfigMap: '
            f'no kind "Other" is registered for version "v1" {SCHEME}',
        ),
        (
            {"apiVersion": "apps/v9"},
            'ConfigMap in version "v9" cannot be handled as a ConfigMap: '
            f'no kind "ConfigMap" is registered for version "apps/v9" {SCHEME}',
        ),
        (
            {"apiVersion": "apps/v1", "kind": "Deployment"},
            'Deployment in version "v1" cannot be handled as a ConfigMap: '
            "converting (v1.Deployment) to (core.ConfigMap): unknown conversion",
        ),
    ],
)
async def test_a_document_of_another_kind_is_refused(said: Any, why: str) -> None:
    refused = await api().create(CMS, config_map("a") | said, code=400)
    assert refused["message"] == why


@pytest.mark.parametrize("kind", [{}, [], 1, True])
async def test_a_kind_that_is_no_text_is_refused(kind: Any) -> None:
    client = api()
    refused = await client.create(CMS, {"kind": kind}, code=400)
    assert "into Go struct field .kind of type string" in refused["message"]
    await client.create(CMS, config_map("a"))
    refused = await client.merge(f"{CMS}/a", {"kind": kind or [1]}, code=422)
    assert "into Go struct field .kind of type string" in refused["message"]


async def test_a_custom_resource_says_its_kind_and_version() -> None:
    client = api()
    await client.create(CRDS, foo_definition())
    await client.create(FOOS, foo("a"))
    nameless = {key: value for key, value in foo("b").items() if key != "kind"}
    refused = await client.create(FOOS, nameless, code=400)
    assert "Object 'Kind' is missing in" in refused["message"]
    refused = await client.create(FOOS, foo("b") | {"apiVersion": "v9"}, code=400)
    assert refused["message"].startswith("the API version in the data (v9) does not match")
    refused = await client.merge(f"{FOOS}/a", {"kind": "Bar", "apiVersion": "v9"}, code=422)
    assert [cause["field"] for cause in refused["details"]["causes"]] == ["kind", "apiVersion"]
    refused = await client.merge(f"{FOOS}/a", {"apiVersion": None}, code=500)
    assert "Object 'apiVersion' is missing" in refused["message"]
