"""`kubectl apply -k deploy/NAME`, of every operator, on `quintant up`: rolled out, and at work.

The objects of the kustomizations are applied by our own client. Both replicas run on one node, as
processes of this machine, and share its loopback addresses: none may keep the other from starting.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import patience
from manifests.operator_parts import operator_parts
from quintant import Config
from quintant.api.apps import Deployment
from quintant.api.core import Pod
from quintant.client.http.transport import HttpTransport
from quintant.client.rest import Rest
from quintant.core.errors import BadRequest
from quintant.operators import OPERATORS
from quintant.runtime.cache.client import Client
from quintant.runtime.cache.manifests import Applier
from quintant.runtime.manager.sample import Sample
from scenarios.up import up
from testbeds.kustomize import DEPLOY, kustomization

MIRRORED = "registry.example.com/mirror/quintant:2"
"""Our image as a user's own registry has it."""
REPLICAS = 2
ROLLOUT_SECONDS, SAMPLE_SECONDS = 90, 120
LOOK_SECONDS = 0.5


def sample_of(name: str) -> Sample:
    sample: Sample = import_module(f"quintant.operators.{name}.sample").SAMPLE
    return sample


def with_settings(deployment: dict[str, Any], settings: Mapping[str, str]) -> dict[str, Any]:
    """`kubectl set env`, for what a sample needs to be seen soon."""
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    container["env"] += [{"name": key, "value": value} for key, value in settings.items()]
    return deployment


def mirrored(manifest: dict[str, Any]) -> dict[str, Any]:
    """A manifest after kustomize's `images:` gave our image another name and tag."""
    if is_deployment(manifest):
        (container,) = manifest["spec"]["template"]["spec"]["containers"]
        container["image"] = MIRRORED
    return manifest


def whole(name: str) -> list[dict[str, Any]]:
    return list(kustomization(DEPLOY / name))


def within_sample(name: str) -> list[dict[str, Any]]:
    """An operator that looks after the namespace of its sample alone, as the folder `namespaced`
    has it for another one."""
    namespace = sample_of(name).namespace
    parts = operator_parts(name, namespaces=(namespace,))
    return [namespace_of(namespace), *(each for part in parts.values() for each in part)]


def namespace_of(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


async def roll_out(
    client: Client, name: str, objects: Sequence[dict[str, Any]], settings: Mapping[str, str]
) -> None:
    if settings:
        objects = [with_settings(each, settings) for each in objects if is_deployment(each)]
    await Applier(client.rest, "test").apply(objects)
    program = OPERATORS[name]
    async with patience.within(ROLLOUT_SECONDS):
        await client.wait_for(
            Deployment, program.name, program.namespace, until=rolled_out, timeout=math.inf
        )


async def logs(client: Client, name: str) -> list[str]:
    """What the replicas of an operator have printed."""
    pods = await client.list(Pod, OPERATORS[name].namespace, live=True)
    return [line for pod in pods async for line in client.logs(pod)]


async def logged(client: Client, name: str, word: str) -> None:
    """Wait until a replica of an operator has printed a word; before it starts it has no log."""
    while True:
        with suppress(BadRequest):
            if any(word in line for line in await logs(client, name)):
                return
        await asyncio.sleep(LOOK_SECONDS)


async def images_beside(client: Client, name: str) -> set[str]:
    """The images of all pods but those of an operator itself."""
    pods = await client.list(Pod, live=True)
    specs = [pod.spec for pod in pods if pod.metadata.namespace != OPERATORS[name].namespace]
    containers = [each for spec in specs for each in (*spec.init_containers, *spec.containers)]
    return {each.image for each in containers}


def is_deployment(manifest: Mapping[str, Any]) -> bool:
    return bool(manifest["kind"] == "Deployment")


def rolled_out(deployment: Deployment | None) -> bool:
    if deployment is None or deployment.status.observed_generation < deployment.metadata.generation:
        return False
    status = deployment.status
    return (status.replicas, status.updated_replicas, status.available_replicas) == (REPLICAS,) * 3


async def apply_sample(client: Client, sample: Sample) -> None:
    spaces = [namespace_of(name) for name in sample.namespaces]
    await Applier(client.rest, "test", sample.namespace).apply((*spaces, *sample.manifests))


async def work(client: Client, sample: Sample) -> None:
    """Apply a sample, and look until it has come true."""
    await apply_sample(client, sample)
    async with patience.within(SAMPLE_SECONDS):
        while not (await sample.look(client)).done:  # noqa: ASYNC110 - a sample is looked at
            await asyncio.sleep(LOOK_SECONDS)


@pytest.mark.realtime
@pytest.mark.parametrize("installation", [whole, within_sample])
@pytest.mark.parametrize("name", sorted(OPERATORS))
async def test_both_replicas_of_an_installed_operator_start_and_its_sample_works(
    tmp_path: Path, name: str, installation: Callable[[str], list[dict[str, Any]]]
) -> None:
    sample, objects = sample_of(name), [mirrored(each) for each in installation(name)]
    grace = ("--node-grace", f"{sample.node_grace:g}s") if sample.node_grace else ()
    with up(tmp_path, *grace) as kubeconfig:
        transport = HttpTransport(Config.load(kubeconfig))
        client = Client(Rest(transport))
        await roll_out(client, name, objects, {})
        assert not [line for line in await logs(client, name) if "could not read" in line]
        if sample.settings:
            await roll_out(client, name, objects, sample.settings)
        await work(client, sample)
        makes_pods_of_ours = bool(OPERATORS[name].image_variable)
        assert (MIRRORED in await images_beside(client, name)) is makes_pods_of_ours
        await transport.close()


@pytest.mark.realtime
async def test_an_operator_that_comes_before_its_definitions_says_so_and_waits(
    tmp_path: Path,
) -> None:
    name = "klight"
    with up(tmp_path) as kubeconfig:
        transport = HttpTransport(Config.load(kubeconfig))
        client = Client(Rest(transport))
        applier = Applier(client.rest, "test")
        await applier.apply(kustomization(DEPLOY / name / "operator"))
        async with patience.within(ROLLOUT_SECONDS):
            await logged(client, name, "lightnetworks")
        await roll_out(client, name, list(kustomization(DEPLOY / name / "crds")), {})
        await transport.close()


FUTURE = "fromTheFuture"
"""A field that no version of ours has."""
EXPOSE = "/apis/portal.gosuda.org/v1alpha1/namespaces/portal-demo/portalexposes/hello"


def newer(definition: dict[str, Any]) -> dict[str, Any]:
    """A definition with a further field in spec and status."""
    for version in definition["spec"]["versions"]:
        parts = version["schema"]["openAPIV3Schema"]["properties"]
        for part in ("spec", "status"):
            parts[part].setdefault("properties", {})[FUTURE] = {"type": "string"}
    return definition


def with_spec(manifest: Mapping[str, Any], more: Mapping[str, str]) -> dict[str, Any]:
    """A manifest, of a PortalExpose with more in its spec."""
    exposes = manifest["kind"] == "PortalExpose"
    return {**manifest, **({"spec": {**manifest["spec"], **more}} if exposes else {})}


@pytest.mark.realtime
async def test_an_operator_older_than_its_definitions_works_and_leaves_alone_what_it_does_not_know(
    tmp_path: Path,
) -> None:
    name, kept = "portal", {FUTURE: "kept"}
    objects, sample = whole(name), sample_of(name)
    sample = replace(sample, manifests=tuple(with_spec(each, kept) for each in sample.manifests))
    definitions = [newer(each) for each in objects if each["kind"] == "CustomResourceDefinition"]
    programs = [each for each in objects if each["kind"] != "CustomResourceDefinition"]
    assert definitions
    with up(tmp_path) as kubeconfig:
        transport = HttpTransport(Config.load(kubeconfig))
        client = Client(Rest(transport))
        await Applier(client.rest, "test").apply(definitions)
        await roll_out(client, name, programs, {})
        await apply_sample(client, sample)
        patch, merge = json.dumps({"status": kept}), "application/merge-patch+json"
        headers = {"content-type": merge}
        await client.raw("PATCH", f"{EXPOSE}/status", body=patch.encode(), headers=headers)
        await work(client, sample)
        found = json.loads(await client.raw("GET", EXPOSE))
        assert (found["spec"][FUTURE], found["status"][FUTURE]) == ("kept", "kept")
        assert not [line for line in await logs(client, name) if FUTURE in line]
        await transport.close()
