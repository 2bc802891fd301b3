"""ARCHITECTURE.md can be followed with a debugger: what it names is entered, in that order."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec

import patience
import quintant
from node.node_fixture import IMAGE, PATIENCE_SECONDS, NodeCluster, ready
from quintant.cluster.instance.cluster import Cluster, ClusterConfig, run_cluster
from quintant.cluster.kubelet.options import NodeOptions
from quintant.cluster.simulated.fleet import Fleet
from quintant.core.address import BindAddress
from unit.cluster.api import PODS

MANIFEST = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "main", "image": IMAGE}]},
        },
    },
}
SOURCES = f"{Path(quintant.__file__).parent}/"
PAGE = Path(__file__).parents[2] / "ARCHITECTURE.md"
WALK = "### One `kubectl apply`"

APPLY = """
import base64, http.client, json, ssl, sys, tempfile
kubeconfig, manifest = json.loads(sys.stdin.readline()), sys.stdin.readline()
cluster, user = kubeconfig["clusters"][0]["cluster"], kubeconfig["users"][0]["user"]
authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
context = ssl.create_default_context(cadata=authority)
with tempfile.NamedTemporaryFile() as pair:
    for part in ("client-certificate-data", "client-key-data"):
        pair.write(base64.b64decode(user[part]))
    pair.flush()
    context.load_cert_chain(pair.name)
host = cluster["server"].removeprefix("https://")
connection = http.client.HTTPSConnection(host, context=context)
path = "/apis/apps/v1/namespaces/default/deployments/web?fieldManager=kubectl"
headers = {"Content-Type": "application/apply-patch+yaml"}
connection.request("PATCH", path, manifest, headers)
sys.exit(connection.getresponse().status != 201)
"""
"""What `kubectl apply --server-side` sends, in a process of its own: nothing of it is recorded."""


def steps() -> list[str]:
    """The modules that the page names on the way, in its order."""
    text = PAGE.read_text()
    walk = text[text.index(WALK) :].partition("\n## ")[0]
    return re.findall(r"`((?:http|core|client|runtime|cluster)/[\w/]+\.py)`", walk)


@contextmanager
def entered() -> Iterator[list[str]]:
    """The modules of the product as the loop's thread goes from one into the next."""
    modules = [""]

    def note(frame: FrameType, event: str, argument: Any) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(SOURCES) and modules[-1] != name:
            modules.append(name)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield modules
    finally:
        sys.setprofile(before)


async def apply(cluster: Cluster) -> None:
    program = await asyncio.create_subprocess_exec(
        sys.executable, "-c", APPLY, stdin=asyncio.subprocess.PIPE
    )
    kubeconfig = cluster.kubeconfig.reveal().replace(b"\n", b" ")
    await program.communicate(kubeconfig + b"\n" + msgspec.json.encode(MANIFEST) + b"\n")
    assert program.returncode == 0


async def test_a_deployment_goes_through_the_modules_that_the_page_names_in_that_order() -> None:
    config = ClusterConfig(
        BindAddress("127.0.0.1", 0), controllers=True, fleet=Fleet(), node=NodeOptions()
    )
    async with run_cluster(config) as cluster:
        house = NodeCluster(cluster)
        async with house.api.watch(PODS, labelSelector="app=web") as pods:
            with entered() as modules:
                await apply(cluster)
                while not ready((await pods.next(patience.seconds(PATIENCE_SECONDS)))["object"]):
                    pass

    named = steps()
    assert len(named) > 30
    remaining = iter(modules)
    missed = [module for module in named if SOURCES + module not in remaining]
    assert missed == []
