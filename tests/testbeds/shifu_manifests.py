"""What users of upstream apply beside their devices."""

from __future__ import annotations

from typing import Any

SHIFUS = "deviceshifu"


def users_deployment(short: str) -> dict[str, Any]:
    """A deviceShifu as users of upstream write it."""
    name = f"deviceshifu-{short}-deployment"
    env = [
        {"name": "EDGEDEVICE_NAME", "value": f"edgedevice-{short}"},
        {"name": "EDGEDEVICE_NAMESPACE", "value": "devices"},
    ]
    container = {"name": "deviceshifu-http", "image": "edgehub/deviceshifu-http-http:nightly"}
    pod = {"containers": [{**container, "env": env}], "serviceAccountName": "edgedevice-sa"}
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name, "namespace": SHIFUS, "labels": labels},
        "spec": {
            "replicas": 1, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }  # fmt: skip


def users_service(short: str) -> dict[str, Any]:
    """The Service that comes with it, under the name that ours has."""
    return {
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": f"deviceshifu-{short}", "namespace": SHIFUS},
        "spec": {
            "selector": {"app": f"deviceshifu-{short}-deployment"},
            "ports": [{"port": 80, "protocol": "TCP", "targetPort": 8080}],
        },
    }  # fmt: skip
