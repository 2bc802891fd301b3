"""Upstream's agents, install bundle and samples, as its published Go module has them.

Nothing of it is kept here: programs are built into the cache, texts are read where Go keeps them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from foreign.catalogue import (
    DEVICESHIFU_HTTP,
    DEVICESHIFU_MQTT,
    DEVICESHIFU_SOCKET,
    SHIFU_CONTROLLER,
)
from foreign.errors import ProgramError
from quintant.cluster.kubelet.container.images import ImageProgram
from quintant.core.yaml import load_all
from quintant.operators.shifu.api.names import DEVICES
from testbeds.shifu_real import SHIFUS, part

PROGRAMS = {"HTTP": DEVICESHIFU_HTTP, "MQTT": DEVICESHIFU_MQTT, "Socket": DEVICESHIFU_SOCKET}
IMAGE = "upstream/deviceshifu"
_CONFIG = "/etc/edgedevice/config"

Aloud = Callable[[], AbstractContextManager[None]]


def upstream_programs(aloud: Aloud) -> tuple[ImageProgram, ...]:
    """Entries of the image table for upstream's agents, built first where they are missing."""
    try:
        with aloud():
            paths = {each: program.provide(os.environ) for each, program in PROGRAMS.items()}
    except ProgramError as error:
        pytest.skip(str(error))
    return tuple(
        ImageProgram(image=_image(protocol), argv=(str(path),)) for protocol, path in paths.items()
    )


def upstream_source(aloud: Aloud) -> Path:
    """The folder of the module, with its install bundle and its samples."""
    try:
        with aloud():
            return SHIFU_CONTROLLER.source(os.environ)
    except ProgramError as error:
        pytest.skip(str(error))


def bundle(source: Path) -> Path:
    """What upstream's users apply first."""
    return source / "pkg" / "k8s" / "crd" / "install" / "shifu_install.yml"


def samples(source: Path) -> list[Path]:
    """Every manifest under `examples/`; what configures a cluster of kind's own is none."""
    found = sorted((source / "examples").rglob("*.y*ml"))
    return [each for each in found if not _is_of_kind(each)]


def documents(files: list[Path]) -> list[dict[str, Any]]:
    """All manifests of files."""
    return [each for file in files for each in load_all(file.read_bytes(), str(file)) if each]


def upstream_deployment(name: str, protocol: str) -> dict[str, Any]:
    """A Deployment of upstream's agent for a device, as its users write them."""
    labels = {"app": f"deviceshifu-{name}"}
    container = {
        "name": "deviceshifu-http",
        "image": _image(protocol),
        "env": [
            {"name": "EDGEDEVICE_NAME", "value": name},
            {"name": "EDGEDEVICE_NAMESPACE", "value": DEVICES},
        ],
        "ports": [{"containerPort": 8080}],
        "volumeMounts": [{"name": "config", "mountPath": _CONFIG, "readOnly": True}],
        "readinessProbe": {"httpGet": {"path": "/health", "port": 8080}, "periodSeconds": 1},
    }
    config: Mapping[str, Any] = {"name": "config", "configMap": {"name": f"{name}-configmap"}}
    pod = {"containers": [container], "volumes": [config], "serviceAccountName": "edgedevice-sa"}
    return part("apps/v1", "Deployment", f"deviceshifu-{name}-deployment", SHIFUS, spec={
        "replicas": 1, "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod},
    })  # fmt: skip


def _image(protocol: str) -> str:
    return f"{IMAGE}-{protocol.lower()}"


def _is_of_kind(file: Path) -> bool:
    return any(
        str(each.get("apiVersion", "")).startswith("kind.x-k8s.io") for each in documents([file])
    )
