"""`quintant get`, `describe` and `logs` at a cluster, which they only read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
import yaml
from click.testing import CliRunner

import patience
from quintant import Context, Custom, Manager, Model, Opaque, resource
from quintant.api.core import ConfigMap, Secret, Service, ServicePort, ServiceSpec
from quintant.api.events import Event
from quintant.api.meta import ObjectReference
from quintant.cli import main
from quintant.cli.client import open_client
from quintant.client.config.config import Config
from quintant.client.http.transport import HttpTransport
from quintant.cluster.instance.cluster import ClusterConfig, run_cluster, save_kubeconfig
from quintant.core.address import BindAddress
from quintant.core.object import ObjectMeta
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.environment import Environment
from quintant.runtime.manager.install_crds import install_crds
from quintant.testing import named

pytestmark = pytest.mark.realtime


class Look:
    """A cluster, and what commands say of it."""

    def __init__(self, client: Client, way: Path) -> None:
        self.client, self._way = client, way

    async def __call__(self, *words: str, code: int = 0) -> str:
        command = [*words, "--kubeconfig", str(self._way)]
        done = await asyncio.to_thread(CliRunner().invoke, main, command)
        assert done.exit_code == code, done.output
        return done.output

    def environment(self) -> Environment:
        """For a manager that works at the cluster."""
        return Environment(HttpTransport(Config.load(self._way)))


@asynccontextmanager
async def looking(folder: Path) -> AsyncIterator[Look]:
    async with run_cluster(ClusterConfig(BindAddress("127.0.0.1", 0))) as cluster:
        way = folder / "kubeconfig"
        save_kubeconfig(cluster, way)
        async with open_client(Config.load(way), "test") as client:
            yield Look(client, way)


async def test_get_prints_the_columns_of_the_server(tmp_path: Path) -> None:
    async with looking(tmp_path) as look:
        spec = ServiceSpec(ports=(ServicePort(port=80),))
        await look.client.create(Service(metadata=named("web"), spec=spec))
        await look.client.create(ConfigMap(metadata=named("a"), data={"k": "v"}))

        heading, line = (await look("get", "svc", "web")).splitlines()
        assert heading.split() == ["NAME", "TYPE", "CLUSTER-IP", "EXTERNAL-IP", "PORT(S)", "AGE"]
        assert line.split()[0] == "web"
        both = await look("get", "cm,services", "-n", "default")
        assert "configmaps/a" in both
        assert "services/web" in both
        everywhere = await look("get", "namespaces", "-A")
        assert "NAMESPACE" not in everywhere
        (found,) = yaml.safe_load_all(await look("get", "cm/a", "-o", "yaml"))
        assert (found["kind"], found["data"]) == ("ConfigMap", {"k": "v"})
        assert "managedFields" not in found["metadata"]
        listed = msgspec.json.decode(await look("get", "cm,svc", "-o", "json"))
        assert {each["kind"] for each in listed["items"]} == {"ConfigMap", "Service"}
        assert "configmap/a\n" in await look("get", "cm", "-o", "name")


UNFIT = "DoesNotFitItsType"


class LooseSpec(Model):
    size: Opaque = Opaque(b"{}")


@resource(group="demo.dev", version="v1", kind="Thing")
class StoredThing(Custom[LooseSpec, None]):
    """The kind as it is installed: it takes what a program does not."""


class Spec(Model):
    size: int = 0


@resource(group="demo.dev", version="v1")
class Thing(Custom[Spec, None]):
    """The kind as a program knows it."""


async def nothing(thing: Thing, ctx: Context[Thing]) -> None:
    pass


async def test_an_object_that_a_program_cannot_decode_is_shown_with_its_warning(
    tmp_path: Path,
) -> None:
    manager = Manager("things")
    manager.controls(Thing).reconcile(nothing)
    async with looking(tmp_path) as look:
        environment = look.environment()
        await install_crds(environment.transport, [StoredThing])
        spec = LooseSpec(size=Opaque(b'{"a":1}'))
        await look.client.create(StoredThing(metadata=named("odd"), spec=spec))
        async with manager.running(environment), patience.within(20):
            while UNFIT not in await look("describe", "things", "odd"):  # noqa: ASYNC110 - a command
                await asyncio.sleep(0.1)
        _, line = (await look("get", "things")).splitlines()
        assert line.split()[0] == "odd"


async def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    async with looking(tmp_path) as look:
        assert await look("get", "pods") == "No resources found in default namespace.\n"
        assert 'pods "a" not found' in await look("get", "pod", "a", code=1)
        unknown = await look("get", "deploymnts", code=1)
        assert unknown.splitlines()[0] == "there is no kind 'deploymnts'"
        assert unknown.splitlines()[2] == "try: deployments"
        assert "No resources found" in await look("describe", "pods")


async def test_describe_tells_what_happened_and_no_secret(tmp_path: Path) -> None:
    async with looking(tmp_path) as look:
        secret = await look.client.create(
            Secret(metadata=named("s", labels={"app": "x"}), data={"password": "aHVudGVyMg=="})
        )
        about = ObjectReference(
            kind="Secret", name="s", namespace="default", uid=secret.metadata.uid
        )
        await look.client.create(
            Event(
                metadata=ObjectMeta(name="s.1", namespace="default"),
                event_time="2026-01-01T00:00:00.000000Z",
                reporting_controller="test.dev/test",
                reporting_instance="one",
                action="Test",
                reason="Rotated",
                regarding=about,
                note="it was \x1b[31mrotated",
                type="Normal",
            )
        )
        told = await look("describe", "secret", "s")
        assert "Name:         s" in told
        assert "app=x" in told
        assert "Rotated   it was  [31mrotated" in told
        assert "aHVudGVyMg" not in told
        assert "password: " in told


async def test_logs_of_what_has_no_pods_are_explained(tmp_path: Path) -> None:
    async with looking(tmp_path) as look:
        await look.client.create(ConfigMap(metadata=named("a")))
        assert "a ConfigMap selects no pods by labels" in await look("logs", "cm/a", code=1)
        assert 'pods "nobody" not found' in await look("logs", "nobody", code=1)
