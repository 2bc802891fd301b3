"""Synthetic pods of about 5 KB, as an API server sends them: managedFields and all."""

from __future__ import annotations

from typing import Any

import msgspec

MANAGERS = ("kube-controller-manager", "kubelet")


def pod(number: int) -> bytes:
    """One pod; owner, image and node repeat as they do in a cluster."""
    app, node = f"app-{number % 100}", f"node-{number % 50}"
    name = f"{app}-5d89b9d5f-{number:05}"
    document: dict[str, Any] = {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": _metadata(number, name, app),
        "spec": _spec(app, node),
        "status": _status(number, app),
    }
    return msgspec.json.encode(document)


def _metadata(number: int, name: str, app: str) -> dict[str, Any]:
    return {
        "name": name,
        "generateName": f"{app}-5d89b9d5f-",
        "namespace": f"team-{number % 20}",
        "uid": f"0f6c6c1e-7f0d-4a7e-9c0e-{number:012}",
        "resourceVersion": str(1_000_000 + number),
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "labels": {"app": app, "pod-template-hash": "5d89b9d5f", "team": f"team-{number % 20}"},
        "annotations": {
            "kubernetes.io/config.seen": f"2026-01-01T00:00:{number % 60:02}.123456789Z",
            "prometheus.io/scrape": "true",
        },
        "ownerReferences": [
            {
                "apiVersion": "apps/v1",
                "kind": "ReplicaSet",
                "name": f"{app}-5d89b9d5f",
                "uid": f"7b0e2b39-56f8-4b3c-8a39-{number % 100:012}",
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
        "managedFields": [_managed(manager) for manager in MANAGERS],
    }


def _managed(manager: str) -> dict[str, Any]:
    leaf: dict[str, Any] = {}
    container = {f"f:{name}": leaf for name in ("image", "name", "ports", "resources", "env")}
    fields = {
        "f:metadata": {"f:labels": {".": leaf, "f:app": leaf}, "f:ownerReferences": {".": leaf}},
        "f:spec": {
            "f:containers": {f'k:{{"name":"{name}"}}': container for name in ("web", "side")}
        },
        "f:status": {
            "f:conditions": {
                f'k:{{"type":"{kind}"}}': {"f:status": leaf, "f:lastTransitionTime": leaf}
                for kind in ("Ready", "Initialized", "ContainersReady", "PodScheduled")
            }
        },
    }
    return {
        "manager": manager,
        "operation": "Update",
        "apiVersion": "v1",
        "time": "2026-01-01T00:00:00Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    }


def _spec(app: str, node: str) -> dict[str, Any]:
    return {
        "containers": [_container("web", app), _container("side", app)],
        "volumes": [
            {"name": "config", "configMap": {"name": app, "defaultMode": 420}},
            {"name": "tmp", "emptyDir": {}},
        ],
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "serviceAccountName": "default",
        "nodeName": node,
        "schedulerName": "default-scheduler",
        "securityContext": {"runAsNonRoot": True},
        "tolerations": [
            {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
            for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
        ],
    }


def _container(name: str, app: str) -> dict[str, Any]:
    return {
        "name": name,
        "image": f"registry.example.com/{app}:1.2.3",
        "command": ["/bin/server", "--listen=:8080"],
        "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
        "env": [{"name": f"SETTING_{number}", "value": f"value-{number}"} for number in range(6)],
        "resources": {
            "requests": {"cpu": "100m", "memory": "128Mi"},
            "limits": {"cpu": "1", "memory": "256Mi"},
        },
        "volumeMounts": [
            {"name": "config", "mountPath": "/etc/app", "readOnly": True},
            {"name": "tmp", "mountPath": "/tmp"},
        ],
        "livenessProbe": {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 10},
        "imagePullPolicy": "IfNotPresent",
    }


def _status(number: int, app: str) -> dict[str, Any]:
    address = f"10.{number // 65536 % 256}.{number // 256 % 256}.{number % 256}"
    return {
        "phase": "Running",
        "conditions": [
            {"type": kind, "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
            for kind in ("Initialized", "Ready", "ContainersReady", "PodScheduled")
        ],
        "hostIP": f"192.168.0.{number % 50}",
        "podIP": address,
        "podIPs": [{"ip": address}],
        "startTime": "2026-01-01T00:00:00Z",
        "containerStatuses": [
            {
                "name": name,
                "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}},
                "ready": True,
                "restartCount": 0,
                "image": f"registry.example.com/{app}:1.2.3",
                "imageID": f"registry.example.com/{app}@sha256:{number:064x}",
                "containerID": f"containerd://{number:064x}",
                "started": True,
            }
            for name in ("web", "side")
        ],
        "qosClass": "Burstable",
    }
