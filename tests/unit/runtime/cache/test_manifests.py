"""Manifests of any kind are applied where the server says that they belong."""

from __future__ import annotations

import pytest

from quintant.api.core import ConfigMap, Namespace
from quintant.client.rest import Rest
from quintant.core.errors import ConfigError, NotFound
from quintant.runtime.cache.manifests import Applier
from quintant.testing import InProcessCluster

CRON = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "crons.x.dev"},
    "spec": {
        "group": "x.dev",
        "scope": "Namespaced",
        "names": {"plural": "crons", "kind": "Cron"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "x-kubernetes-preserve-unknown-fields": True,
                    }
                },
            }
        ],
    },
}


def _applier(cluster: InProcessCluster) -> Applier:
    return Applier(Rest(cluster.admin), "test")


async def test_objects_go_to_the_namespace_they_name_or_to_the_usual_one(
    cluster: InProcessCluster,
) -> None:
    manifests = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "b"}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "b"}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "y"}},
    ]
    await _applier(cluster).apply(manifests)
    assert await cluster.get(Namespace, "b", "")
    assert await cluster.get(ConfigMap, "x", "b")
    assert await cluster.get(ConfigMap, "y", "default")


async def test_applying_again_changes_what_differs(cluster: InProcessCluster) -> None:
    applier = _applier(cluster)
    for text in ("one", "two"):
        await applier.apply(
            [
                {
                    "apiVersion": "v1",
                    "kind": "ConfigMap",
                    "metadata": {"name": "x"},
                    "data": {"text": text},
                }
            ]
        )
    assert (await cluster.get(ConfigMap, "x")).data == {"text": "two"}


async def test_kind_defined_a_moment_ago_is_found(cluster: InProcessCluster) -> None:
    applier = _applier(cluster)
    cron = {"apiVersion": "x.dev/v1", "kind": "Cron", "metadata": {"name": "a"}}
    with pytest.raises(NotFound):
        await applier.apply([cron])
    await applier.apply([CRON, cron])


async def test_kind_that_is_not_served_is_named(cluster: InProcessCluster) -> None:
    with pytest.raises(ConfigError, match=r"cannot apply Gadget\n.*no such kind in v1"):
        await _applier(cluster).apply(
            [{"apiVersion": "v1", "kind": "Gadget", "metadata": {"name": "a"}}]
        )


async def test_manifest_without_a_name_is_refused(cluster: InProcessCluster) -> None:
    with pytest.raises(ConfigError, match="needs apiVersion, kind and"):
        await _applier(cluster).apply([{"apiVersion": "v1", "kind": "ConfigMap"}])
