"""An Ingress before pods that are processes, as curl sees it over TLS."""

from __future__ import annotations

import asyncio
import shutil
import sys
from base64 import b64encode
from datetime import timedelta
from pathlib import Path

import pytest

import patience
from node.node_fixture import PATIENCE_SECONDS, NodeCluster, ready
from quintant.cluster.instance.cluster import ClusterConfig, run_cluster
from quintant.cluster.kubelet.container.images import ImageProgram
from quintant.cluster.kubelet.options import NodeOptions
from quintant.core.address import BindAddress
from quintant.core.clock import SystemClock
from quintant.keys.authority import Authority, Validity
from unit.cluster.api import JsonObject

IMAGE = ImageProgram(image="example/python", argv=(sys.executable,))
HOST = "shop.test"
SERVICES = "/api/v1/namespaces/default/services"
SECRETS = "/api/v1/namespaces/default/secrets"
INGRESSES = "/apis/networking.k8s.io/v1/namespaces/default/ingresses"
CONTAINER: JsonObject = {
    "name": "main",
    "image": IMAGE.image,
    "args": ["-m", "http.server", "8080", "--bind", "$(ADDRESS)"],
    "env": [{"name": "ADDRESS", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}],
    "readinessProbe": {"httpGet": {"port": 8080}, "periodSeconds": 1},
}


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
async def test_curl_reaches_a_pod_through_an_ingress_by_tls(tmp_path: Path) -> None:
    now = SystemClock().now()
    life = Validity(now, now + timedelta(days=1))
    authority = Authority.make("test", life)
    (tmp_path / "ca.crt").write_bytes(authority.certificate)
    config = ClusterConfig(
        BindAddress("127.0.0.1", 0), controllers=True, node=NodeOptions((IMAGE,))
    )
    async with run_cluster(config) as cluster:
        node = NodeCluster(cluster)
        pair = authority.serving([HOST], life)
        data = {"tls.crt": pair.certificate.reveal(), "tls.key": pair.key.reveal()}
        await node.api.create(
            SECRETS,
            {
                "metadata": {"name": "shop"},
                "type": "kubernetes.io/tls",
                "data": {name: b64encode(value).decode() for name, value in data.items()},
            },
        )
        spec: JsonObject = {
            "selector": {"app": "shop"},
            "ports": [{"port": 80, "targetPort": 8080}],
        }
        await node.api.create(SERVICES, {"metadata": {"name": "shop"}, "spec": spec})
        await node.api.create(INGRESSES, _ingress())
        pod = {"nodeName": "local", "containers": [CONTAINER]}
        meta = {"name": "shop-0", "labels": {"app": "shop"}}
        await node.api.create("/api/v1/namespaces/default/pods", {"metadata": meta, "spec": pod})
        await node.until("shop-0", ready)
        address, https = await _served(node)
        said = await _curl(address, https, tmp_path / "ca.crt")
    assert "Directory listing" in said


def _ingress() -> JsonObject:
    service = {"name": "shop", "port": {"number": 80}}
    path = {"path": "/", "pathType": "Prefix", "backend": {"service": service}}
    rules = [{"host": HOST, "http": {"paths": [path]}}]
    tls = [{"hosts": [HOST], "secretName": "shop"}]
    return {"metadata": {"name": "shop"}, "spec": {"rules": rules, "tls": tls}}


async def _served(node: NodeCluster) -> tuple[str, int]:
    """Where the Ingress is served by TLS, as its status says."""
    async with patience.within(PATIENCE_SECONDS):
        while True:
            found = await node.api.get(f"{INGRESSES}/shop")
            if points := (found["status"].get("loadBalancer") or {}).get("ingress"):
                return points[0]["ip"], points[0]["ports"][1]["port"]
            await asyncio.sleep(0.05)


async def _curl(address: str, port: int, authority: Path) -> str:
    """What curl prints, as soon as an endpoint is ready."""
    where = f"{HOST}:{port}:{address}"
    command = ["curl", "-sS", "--cacert", str(authority), "--resolve", where, "--noproxy", "*"]
    async with patience.within(PATIENCE_SECONDS):
        while True:
            process = await asyncio.create_subprocess_exec(
                *command, f"https://{HOST}:{port}/", stdout=asyncio.subprocess.PIPE
            )
            said, _ = await process.communicate()
            if process.returncode == 0 and b"no endpoint" not in said:
                return said.decode()
            await asyncio.sleep(0.05)
