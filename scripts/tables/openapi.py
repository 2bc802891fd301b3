"""The OpenAPI documents of a real server, as one map of schemas."""

from __future__ import annotations

import ssl
import urllib.request
from typing import Any

import msgspec

from envtest import RealCluster

_ROOT = "/openapi/v3"
_PREFIXES = {
    "meta": "io.k8s.apimachinery.pkg.apis.",
    "apiextensions": "io.k8s.apiextensions-apiserver.pkg.apis.",
    "apiregistration": "io.k8s.kube-aggregator.pkg.apis.",
}
_PREFIX = "io.k8s.api."


def schemas(cluster: RealCluster) -> dict[str, Any]:
    """Every schema of every group that the cluster serves, by its full name."""
    found: dict[str, Any] = {}
    index = _get(cluster, _ROOT)
    for path, where in index["paths"].items():
        if path.startswith("api"):
            document = _get(cluster, where["serverRelativeURL"])
            found |= document.get("components", {}).get("schemas", {})
    return found


def full_name(message: str) -> str:
    """The name of a message in OpenAPI: core.v1.Pod is io.k8s.api.core.v1.Pod."""
    return _PREFIXES.get(message.partition(".")[0], _PREFIX) + message


def _get(cluster: RealCluster, path: str) -> Any:
    headers = {"Authorization": f"Bearer {cluster.token}", "Accept": "application/json"}
    request = urllib.request.Request(cluster.server + path, headers=headers)
    context = ssl.create_default_context(cafile=cluster.ca)
    with urllib.request.urlopen(request, context=context) as answer:
        return msgspec.json.decode(answer.read())
