"""`quintant finalizers release` lets objects go by every name that a finalizer has or had."""

from __future__ import annotations

from quintant.api.core import ConfigMap
from quintant.cli.finalizers import release_kind
from quintant.testing import InProcessCluster, named

NAME, OLD, OTHERS = "demo.dev/name", "demo.dev/old", "demo.dev/others"


async def test_old_names_are_taken_off_too_and_those_of_others_stay(
    cluster: InProcessCluster,
) -> None:
    held = {"a": (OLD,), "b": (NAME, OTHERS, OLD), "c": (OTHERS,)}
    for name, finalizers in held.items():
        await cluster.create(ConfigMap(metadata=named(name, finalizers=finalizers)))

    assert await release_kind(cluster.client, ConfigMap, (NAME, OLD), None, "default") == 2
    left = {name: (await cluster.get(ConfigMap, name)).metadata.finalizers for name in held}
    assert left == {"a": (), "b": (OTHERS,), "c": (OTHERS,)}


async def test_one_object_is_released_by_its_name(cluster: InProcessCluster) -> None:
    for name in ("a", "b"):
        await cluster.create(ConfigMap(metadata=named(name, finalizers=(NAME,))))

    assert await release_kind(cluster.client, ConfigMap, (NAME,), "a", "default") == 1
    assert (await cluster.get(ConfigMap, "b")).metadata.finalizers == (NAME,)
