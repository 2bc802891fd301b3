"""A new project and the tutorials work from their manifests, on a real and the embedded server.

Everything that `quintant manifests --image` prints is applied; then the controllers run as the
service account that is in it, with its roles and no others.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import pytest_asyncio
import yaml
from click.testing import CliRunner
from msgspec import structs

import patience
from envtest import RealCluster
from examples_support import EXAMPLES
from quintant import Client, Config
from quintant.api.apps import Deployment
from quintant.api.batch import Job
from quintant.api.core import ConfigMap, PersistentVolumeClaim
from quintant.cli import main
from quintant.cli.client import open_client
from quintant.cli.new import project_files
from quintant.client.config.user import Impersonate
from quintant.client.http.transport import HttpTransport
from quintant.cluster.instance.cluster import ClusterConfig, run_cluster, save_kubeconfig
from quintant.core.address import BindAddress
from quintant.core.object import Object
from quintant.runtime.cache.manifests import Applier
from quintant.runtime.manager.environment import Environment
from quintant.runtime.manager.loading import load_manager

pytestmark = pytest.mark.realtime

WHEEL = "quintant-0.1.0-py3-none-any.whl"
SLEEP = {"restartPolicy": "Never", "containers": [{"name": "a", "image": "sleep"}]}
SAMPLES: dict[str, tuple[dict[str, Any], type[Object]]] = {
    "shop": ({"message": "hello"}, ConfigMap),
    "memcached": ({"size": 2}, Deployment),
    "cronjob": ({"schedule": "@every 1s", "jobTemplate": {"template": {"spec": SLEEP}}}, Job),
    "volumeclaim": ({"size": "1Gi"}, PersistentVolumeClaim),
}


@pytest_asyncio.fixture(params=["real", "embedded"])
async def kubeconfig(
    request: pytest.FixtureRequest, real_cluster: RealCluster, tmp_path: Path
) -> AsyncIterator[Path]:
    if request.param == "real":
        yield real_cluster.kubeconfig
        return
    async with run_cluster(ClusterConfig(BindAddress("127.0.0.1", 0))) as cluster:
        save_kubeconfig(cluster, tmp_path / "kubeconfig")
        yield tmp_path / "kubeconfig"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new project called shop, importable."""
    for path, text in project_files("shop", WHEEL, "shop.example.com"):
        place = tmp_path / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path / "src"))


def target(name: str) -> str:
    if name == "shop":
        return "shop.controller"
    return str(EXAMPLES / "tutorials" / name / f"{name}.py")


def manifests(name: str) -> list[dict[str, Any]]:
    words = ["manifests", target(name), "--image", f"registry.example.com/{name}:1"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    return list(yaml.safe_load_all(done.stdout))


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.usefixtures("project")
async def test_what_is_installed_from_its_manifests_works(kubeconfig: Path, name: str) -> None:
    spec, child = SAMPLES[name]
    documents, home = manifests(name), f"{name}-system"
    config = Config.load(kubeconfig)
    async with patience.within(60), open_client(config, "tests") as client:
        await Applier(client.rest, "tests").apply(documents)
        await admitted(client, home, documents)
        user = Impersonate(user=f"system:serviceaccount:{home}:{name}")
        account = HttpTransport(
            structs.replace(config, user=structs.replace(config.user, impersonate=user))
        )
        manager = load_manager(target(name))
        async with manager.running(Environment(account, namespace=home)):
            await Applier(client.rest, "tests").apply([sample(documents, name, spec)])
            await appears(client, child, name)
        await account.close()


def sample(documents: list[dict[str, Any]], name: str, spec: dict[str, Any]) -> dict[str, Any]:
    """An object of the kind that is installed."""
    (crd,) = (each for each in documents if each["kind"] == "CustomResourceDefinition")
    version = f"{crd['spec']['group']}/{crd['spec']['versions'][0]['name']}"
    kind, meta = crd["spec"]["names"]["kind"], {"name": name, "namespace": "default"}
    return {"apiVersion": version, "kind": kind, "metadata": meta, "spec": spec}


async def admitted(client: Client, home: str, documents: list[dict[str, Any]]) -> None:
    """The pods of the Deployment meet the level that their namespace asks for."""
    (deployment,) = (each for each in documents if each["kind"] == "Deployment")
    template = deployment["spec"]["template"]
    pod = {"metadata": {"name": "trial", **template["metadata"]}, "spec": template["spec"]}
    await client.raw(
        "POST",
        f"/api/v1/namespaces/{home}/pods?dryRun=All",
        body=msgspec.json.encode({"apiVersion": "v1", "kind": "Pod", **pod}),
        headers={"content-type": "application/json"},
    )


async def appears(client: Client, kind: type[Object], name: str) -> None:
    """A child of the sample is there."""
    owners: set[str] = set()
    while name not in owners:
        await asyncio.sleep(0.05)
        found = await client.list(kind, "default", live=True)
        owners = {ref.name for each in found for ref in each.metadata.owner_references}
