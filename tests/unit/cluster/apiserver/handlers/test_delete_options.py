from __future__ import annotations

from unit.cluster.api import (
    CMS,
    api,
    config_map,
)


async def test_unknown_propagation_is_refused() -> None:
    client = api()
    await client.create(CMS, config_map("a"))
    refused = await client.delete(f"{CMS}/a", {"propagationPolicy": "Sideways"}, code=422)
    assert refused["message"] == (
        'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: '
        'Unsupported value: "Sideways": supported values: '
        '"Foreground", "Background", "Orphan", "nil"'
    )


async def test_options_may_come_in_the_query() -> None:
    client = api()
    await client.create(CMS, config_map("a"))
    answer = await client.delete(f"{CMS}/a", propagationPolicy="Foreground")
    assert answer["metadata"]["finalizers"] == ["foregroundDeletion"]
