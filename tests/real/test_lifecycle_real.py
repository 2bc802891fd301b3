"""Every operator on a real kube-apiserver: upgraded over 0.1.0, and uninstalled after it is gone.

Where 0.1.0 had the operator, what it installed and left behind is in testbeds/installed_0_1_0, as
that version wrote it; otherwise today's version is installed over itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from click.testing import CliRunner
from msgspec import structs

import patience
from envtest import RealCluster
from quintant import Client, Config, Manager
from quintant.api.apiextensions import CustomResourceDefinition
from quintant.api.apps import Deployment
from quintant.api.coordination import Lease
from quintant.api.core import Namespace, Pod, Service
from quintant.cli import main
from quintant.client.config.user import Impersonate
from quintant.client.http.transport import HttpTransport
from quintant.client.rest import APPLY, MERGE
from quintant.client.transport import JSON
from quintant.core.object import Object, ObjectMeta
from quintant.core.resource import is_custom_kind, resource_of
from quintant.operators import OPERATORS, manager_of
from quintant.runtime.manager.environment import Environment
from quintant.runtime.manager.loading import load_manager
from testbeds.shifu_installation import kubectl_at

pytestmark = pytest.mark.realtime

ROOT = Path(__file__).parents[2]
BEFORE = ROOT / "tests/testbeds/installed_0_1_0"
GREETER = str(ROOT / "examples/01_greeter.py")
HOOKS = "validatingwebhookconfiguration"
HOOK = "validating-webhook-configuration"
BUILT_IN: tuple[type[Object], ...] = (Deployment, Service, Pod, Lease)
Plain = dict[str, Any]


CLUSTER = {
    "apiVersion": "infra.quintant.dev/v1alpha1",
    "kind": "Cluster",
    "metadata": {
        "name": "farm",
        "namespace": "default",
        "finalizers": ["infra.quintant.dev/infrastructure-resources-deletion"],
    },
    "spec": {
        "tosca": {
            "tosca_definitions_version": "tosca_simple_yaml_1_0",
            "topology_template": {"outputs": {"kubeconfig": {"value": "x"}}},
        }
    },
    "status": {
        "clusterID": "inf-1",
        "runningOn": {
            "kind": "Cloud",
            "name": "paris",
            "providerKind": "InfrastructureProvider",
            "providerName": "im",
        },
    },
}
SCHEDULE = {
    "apiVersion": "cosmos.strange.love/v1alpha1",
    "kind": "ScheduledVolumeSnapshot",
    "metadata": {"name": "hourly", "namespace": "default"},
    "spec": {
        "fullNodeRef": {"name": "nobody", "ordinal": 0},
        "schedule": "0 * * * *",
        "volumeSnapshotClassName": "standard",
    },
}
DEVICE = {
    "apiVersion": "shifu.edgenesis.io/v1alpha1",
    "kind": "EdgeDevice",
    "metadata": {"name": "thermometer", "namespace": "devices"},
    "spec": {"sku": "t", "connection": "Ethernet", "address": "1.2.3.4:80", "protocol": "HTTP"},
}
GREETING = {
    "apiVersion": "demo.dev/v1",
    "kind": "Greeter",
    "metadata": {"name": "hello", "namespace": "default"},
    "spec": {"message": "hello"},
}


@dataclass(frozen=True)
class Program:
    """One of those that are installed, and the objects that an earlier one left."""

    name: str
    left: tuple[Plain, ...]
    """The last of a kind of its own is the one that is looked after."""
    holds: bool = False
    """Whether it puts a finalizer on that."""

    @property
    def target(self) -> str:
        return self.name if self.name in OPERATORS else GREETER

    @property
    def homes(self) -> tuple[str, ...]:
        """Namespaces that come and go with it; itself it is in the first."""
        found = OPERATORS.get(self.name)
        return (found.namespace, *found.namespaces) if found else (f"{self.name}-system",)

    @property
    def before(self) -> tuple[str, str]:
        """What kubectl was told to install it when it was installed first."""
        old = BEFORE / f"{self.name}.yaml"
        return ("-f", str(old)) if old.exists() else self.now

    @property
    def now(self) -> tuple[str, str]:
        """What kubectl is told to install this version of it."""
        place = ROOT / "deploy" / self.name
        return ("-k" if (place / "kustomization.yaml").exists() else "-f", str(place))

    def manager(self) -> Manager:
        return manager_of(self.name) if self.name in OPERATORS else load_manager(GREETER)

    def kinds(self) -> list[type[Object]]:
        return [kind for kind in self.manager().kinds() if is_custom_kind(kind)]

    def main(self) -> Plain:
        own = [each for each in self.left if is_custom_kind(self.kind(each))]
        return own[-1]

    def kind(self, plain: Plain) -> type[Object]:
        return next(
            kind
            for kind in (*self.kinds(), *BUILT_IN)
            if (resource_of(kind).kind, resource_of(kind).api_version)
            == (plain["kind"], plain["apiVersion"])
        )


def recorded(name: str) -> tuple[Plain, ...]:
    """The objects that 0.1.0 left."""
    return tuple(yaml.safe_load_all((BEFORE / f"{name}_objects.yaml").read_text()))


PROGRAMS = [
    Program("cosmos", (SCHEDULE,), holds=True),
    Program("infra", (CLUSTER,), holds=True),
    Program("klight", recorded("klight")),
    Program("portal", recorded("portal"), holds=True),
    Program("shifu", (DEVICE,)),
    Program("greeter", (GREETING,)),
]


@dataclass(frozen=True)
class Installation:
    """A program on a server, and what is done to it there."""

    program: Program
    kubeconfig: Path
    client: Client

    async def kubectl(self, *words: str) -> str:
        return await kubectl_at(self.kubeconfig, *words)

    async def install(self, how: tuple[str, str]) -> None:
        for name in self.program.homes:
            await self.finish_namespace(name)
            await self.client.apply(Namespace(metadata=ObjectMeta(name=name)))
        await self.kubectl("apply", *how)
        crds = [f"crd/{resource_of(kind).full_name}" for kind in self.program.kinds()]
        await self.kubectl("wait", "--for=condition=Established", "--timeout=30s", *crds)

    async def leave(self) -> None:
        """Put the objects there as an earlier process left them, statuses and owners included."""
        uids: dict[str, str] = {}
        for plain in self.program.left:
            meta = dict(plain["metadata"])
            meta["ownerReferences"] = [
                {**each, "uid": uids[each["name"]]} for each in meta.get("ownerReferences", ())
            ]
            path = self.path(plain)
            await self.send("PATCH", f"{path}?fieldManager=earlier&force=true", APPLY, {
                **{key: part for key, part in plain.items() if key != "status"}, "metadata": meta,
            })  # fmt: skip
            uids[meta["name"]] = (await self.read(plain))["metadata"]["uid"]
            if "status" in plain:
                await self.send("PATCH", f"{path}/status", MERGE, {"status": plain["status"]})

    def path(self, plain: Plain) -> str:
        meta, where = plain["metadata"], resource_of(self.program.kind(plain))
        return where.path(meta.get("namespace", ""), meta["name"])

    async def read(self, plain: Plain) -> Plain:
        found: Plain = msgspec.json.decode(await self.client.raw("GET", self.path(plain)))
        return found

    async def send(self, method: str, path: str, kind: str, body: Plain) -> None:
        encoded = msgspec.json.encode(body)
        await self.client.raw(method, path, body=encoded, headers={"content-type": kind})

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        """The program of this version, as its service account, which has the installed roles."""
        manager, config = self.program.manager(), Config.load(self.kubeconfig)
        home = self.program.homes[0]
        user = Impersonate(user=f"system:serviceaccount:{home}:{manager.name}")
        account = HttpTransport(
            structs.replace(config, user=structs.replace(config.user, impersonate=user))
        )
        async with manager.running(Environment(account, namespace=home)):
            if manager.settings.leader_elect:
                await self.client.wait_for(
                    Lease, manager.name, home, timeout=patience.seconds(30),
                    until=lambda it: it is not None and bool(it.spec.holder_identity),
                )  # fmt: skip
            yield
        await account.close()

    async def looked_at(self, plain: Plain) -> Plain:
        """An object, once a field manager of the program has written its status."""
        async with patience.within(30):
            while True:
                found = await self.read(plain)
                managers = {
                    each["manager"]
                    for each in found["metadata"]["managedFields"]
                    if each.get("subresource") == "status"
                }
                if managers & self.writers():
                    return found
                await asyncio.sleep(0.1)

    def writers(self) -> set[str]:
        manager = self.program.manager()
        return {manager.name, *(declared.name for declared in manager.declarations)}

    async def release(self) -> Any:
        line = ("finalizers", "release", self.program.target, "--yes")
        place = ("--kubeconfig", str(self.kubeconfig))
        return await asyncio.to_thread(CliRunner().invoke, main, [*line, *place])

    async def finish_namespace(self, name: str) -> None:
        """Be the controller of namespaces, which is not here: let one go that is being deleted."""
        found = await self.client.find(Namespace, name)
        if found is not None and found.deleting:
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            path = f"/api/v1/namespaces/{name}/finalize"
            await self.send("PUT", path, JSON, body | {"spec": {"finalizers": []}})

    async def gone(self) -> None:
        """Wait until no definition of the program is left, nor an object of it."""
        for kind in self.program.kinds():
            await self.client.wait_for(
                CustomResourceDefinition, resource_of(kind).full_name,
                until=lambda it: it is None, timeout=patience.seconds(30),
            )  # fmt: skip
        for plain in self.program.left:
            # There is no garbage collector here that takes children along.
            kind, meta = self.program.kind(plain), plain["metadata"]
            if not is_custom_kind(kind):
                found = await self.client.find(kind, meta["name"], meta["namespace"])
                if found is not None:
                    await self.client.delete(found, grace=0)
        for name in self.program.homes:
            await self.finish_namespace(name)


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENABLE_WEBHOOKS", "false")
    monkeypatch.setenv("EDGEMAP_ADDR", "off")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
async def test_upgraded_over_what_was_installed_and_released_after_its_operator_is_gone(
    program: Program, real_cluster: RealCluster, client: Client
) -> None:
    installation = Installation(program, real_cluster.kubeconfig, client)
    await installation.install(program.before)
    await installation.kubectl("delete", "--ignore-not-found", f"{HOOKS}/{program.name}-{HOOK}")
    await installation.leave()
    before = [await installation.read(each) for each in program.left]
    await installation.install(program.now)
    await installation.kubectl("delete", "--ignore-not-found", f"{HOOKS}/{program.name}-{HOOK}")
    async with installation.at_work():
        main_object = await installation.looked_at(program.main())
    for old, plain in zip(before, program.left, strict=True):
        new = await installation.read(plain)
        assert new["metadata"]["uid"] == old["metadata"]["uid"]
        assert "deletionTimestamp" not in new["metadata"]
        if is_custom_kind(program.kind(plain)):
            assert new.get("spec") == old.get("spec")
    assert bool(main_object["metadata"].get("finalizers")) is program.holds

    await installation.kubectl("delete", "--wait=false", "--ignore-not-found", *program.now)
    said = await installation.release()
    assert said.exit_code == 0, said.output
    name = program.main()["metadata"]["name"]
    assert (f"/{name} in " in said.output) is program.holds, said.output
    if program.name == "infra":
        stays = "infrastructure inf-1 at InfrastructureProvider im, on Cloud paris stays"
        assert stays in said.output
    await installation.gone()


async def test_a_webhook_whose_program_is_gone_is_named_with_what_to_do(
    real_cluster: RealCluster, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ENABLE_WEBHOOKS")
    whole = next(each for each in PROGRAMS if each.name == "portal")
    program = replace(whole, left=(whole.main(),))
    installation = Installation(program, real_cluster.kubeconfig, client)
    await installation.install(("-f", str(ROOT / "deploy/portal/crds/crds.yaml")))
    await installation.leave()
    hooks = str(ROOT / "deploy/portal/operator/webhooks.yaml")
    configuration = f"validatingwebhookconfiguration/portal-{HOOK}"
    await installation.kubectl("apply", "-f", hooks)
    try:
        # A moment passes until the server asks a webhook that it was just told of.
        async with patience.within(20):
            while (said := await installation.release()).exit_code == 0:
                await installation.leave()
    finally:
        await installation.kubectl("delete", configuration)
        async with patience.within(20):
            while (await installation.release()).exit_code:
                pass
    assert "because: " in said.output
    assert f"try: kubectl delete {configuration}" in said.output
    assert "finalizers" not in (await installation.read(program.main()))["metadata"]
