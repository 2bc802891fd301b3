"""Manifests are applied in an order that works, pruned by label, and waited for."""

from __future__ import annotations

import pytest

from quintant import ObjectMeta
from quintant.api.core import ConfigMap
from quintant.cli.apply.manifest_files import Manifest, parse_manifests
from quintant.cli.apply.writer import ManifestWriter
from quintant.client.rest import Rest
from quintant.core.errors import ConfigError, NotFound
from quintant.testing import InProcessCluster
from unit.cluster.api import foo, foo_definition

ALL = """
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: team, labels: {app: x}}
data: {k: "1"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b, labels: {app: x}}
---
apiVersion: v1
kind: Namespace
metadata: {name: team, labels: {app: x}}
"""


def quiet(line: str) -> None:
    """Where nothing is looked at."""


def writer(cluster: InProcessCluster, said: list[str] | None = None) -> ManifestWriter:
    progress = (said if said is not None else []).append
    return ManifestWriter(Rest(cluster.admin), "default", 30, progress)


def manifests(text: str = ALL) -> list[Manifest]:
    return list(parse_manifests(text.encode(), "all.yaml"))


async def test_namespaces_come_first_and_go_last(cluster: InProcessCluster) -> None:
    said: list[str] = []
    await writer(cluster).apply(manifests(), said.append)
    assert said == ["namespace/team created", "configmap/a created", "configmap/b created"]
    assert (await cluster.get(ConfigMap, "a", "team")).data == {"k": "1"}
    said.clear()
    await writer(cluster).delete(manifests(), said.append, ignore_missing=False)
    assert said == ["configmap/a deleted", "configmap/b deleted", "namespace/team deleted"]


async def test_a_kind_that_comes_with_its_definition_is_applied(cluster: InProcessCluster) -> None:
    objects = [Manifest(foo("x"), "foo.yaml"), Manifest(foo_definition(), "crd.yaml")]
    said: list[str] = []
    await writer(cluster).apply(objects, said.append)
    assert said == [
        "customresourcedefinition.apiextensions.k8s.io/foos.example.com created",
        "foo.example.com/x created",
    ]


async def test_a_kind_that_is_not_served_is_named(cluster: InProcessCluster) -> None:
    with pytest.raises(ConfigError, match="there is no kind Foo"):
        await writer(cluster).apply([Manifest(foo("x"), "foo.yaml")], quiet)


async def test_pruning_takes_what_we_applied_and_nobody_elses(cluster: InProcessCluster) -> None:
    first, second, namespace = manifests()
    await writer(cluster).apply([first, second, namespace], quiet)
    await cluster.client.apply(_labelled("theirs"))
    said: list[str] = []
    kept = await writer(cluster).apply([namespace, first], quiet)
    await writer(cluster).prune("app=x", kept, said.append)
    assert said == ["configmap/b pruned"]
    assert await cluster.get(ConfigMap, "theirs")


async def test_a_field_of_another_manager_is_a_conflict_until_it_is_forced(
    cluster: InProcessCluster,
) -> None:
    text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: theirs}, data: {k: ours}}"
    await cluster.client.apply(_labelled("theirs"))
    with pytest.raises(ConfigError, match="--force-conflicts takes them over"):
        await writer(cluster).apply(manifests(text), quiet)
    await writer(cluster).apply(manifests(text), quiet, force=True)
    assert (await cluster.get(ConfigMap, "theirs")).data == {"k": "ours"}


async def test_waiting_says_for_what_and_gives_up(cluster: InProcessCluster) -> None:
    text = (
        "{apiVersion: v1, kind: Pod, metadata: {name: p}, "
        "spec: {containers: [{name: c, image: i}]}}"
    )
    said: list[str] = []
    patient = writer(cluster, said)
    applied = await patient.apply(manifests(text), quiet)
    with pytest.raises(ConfigError, match=r"pod/p is not what was asked for after 30 s"):
        await patient.wait_ready(applied)
    assert said[0] == "waiting for pod/p: it is not Ready yet"


async def test_what_is_not_there_is_an_error_unless_it_may_be(cluster: InProcessCluster) -> None:
    (only,) = manifests("{apiVersion: v1, kind: ConfigMap, metadata: {name: none}}")
    with pytest.raises(NotFound):
        await writer(cluster).delete([only], quiet, ignore_missing=False)
    assert await writer(cluster).delete([only], quiet, ignore_missing=True) == []


def _labelled(name: str) -> ConfigMap:
    meta = ObjectMeta(name=name, namespace="default", labels={"app": "x"})
    return ConfigMap(metadata=meta, data={"k": "theirs"})
