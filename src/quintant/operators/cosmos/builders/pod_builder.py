"""The pod of an instance: the node, its sidecars, and what prepares its home. Pure.

What is generated first; then the user's template, laid over it as `kubectl patch` does; then the
images of the version that the node's height asks for; then what is otherwise for this instance.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from quintant.core.object import Opaque
from quintant.core.strategic_merge import MergeKeys, strategic_merge
from quintant.operators.cosmos.api import (
    API_PORT,
    APP_OVERLAY,
    CHAIN_INIT,
    CHECKSUM,
    CONFIG_OVERLAY,
    GRPC_PORT,
    GRPC_WEB_PORT,
    HEALTH_CONTAINER,
    HOME,
    HOME_VOLUME,
    NODE_CONTAINER,
    NODE_KEY,
    PRIVVAL_PORT,
    PROMETHEUS_PORT,
    ROSETTA_PORT,
    VERSION_CONTAINER,
)
from quintant.operators.cosmos.api.chain import ChainVersion
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.views import PodObject
from quintant.operators.cosmos.builders.init_container_builder import (
    Plain,
    Tools,
    build_init_containers,
    chain_home,
    environment,
    mount,
)
from quintant.operators.cosmos.builders.instances import (
    Instance,
    image_version,
    is_sentry,
    labels,
    metadata,
    override_of,
    to_dns_label,
)
from quintant.operators.cosmos.builders.pod_security import restrict
from quintant.operators.cosmos.builders.rbac_builder import account_name
from quintant.operators.cosmos.builders.service_builder import p2p_port, rpc_port
from quintant.operators.cosmos.builders.versions import resolve_version
from quintant.wire.comet import HEALTH_PORT

_GRACE_SECONDS, _SLEEP_SECONDS = 30, 10
_MERGE = MergeKeys(
    {
        **dict.fromkeys(("containers", "initContainers", "volumes", "imagePullSecrets"), "name"),
        **{
            f"{part}.{field}": key
            for part in ("containers", "initContainers")
            for field, key in (
                ("env", "name"), ("ports", "containerPort"), ("volumeMounts", "mountPath"),
            )
        },
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PodInputs:
    """What an instance's pod depends on beside the spec."""

    checksum: str
    """Of its configuration."""
    height: int = 0
    """That its version is chosen by."""


def build_pod(
    full_node: CosmosFullNode, instance: Instance, given: PodInputs, tools: Tools
) -> PodObject | None:
    """The pod of an instance; None if the instance is disabled."""
    override = override_of(full_node, instance.name)
    if override.disable is not None:
        return None
    merged = strategic_merge(_generated(full_node, instance, tools), _patch(full_node), _MERGE)
    spec = restrict(merged)
    apply_version(spec, resolve_version(full_node.spec.chain.versions, given.height))
    if override.image:
        _set_images(spec, {NODE_CONTAINER: override.image, CHAIN_INIT: override.image})
    if override.node_selector:
        spec["nodeSelector"] = dict(override.node_selector)
    marks = labels(full_node, instance=instance.name, version=_version(spec))
    return PodObject(
        metadata=metadata(
            full_node,
            instance.name,
            marks,
            instance.ordinal,
            full_node.spec.pod_template.metadata,
            {CHECKSUM: given.checksum},
        ),
        spec=Opaque.of(spec),
    )


def apply_version(spec: Plain, version: ChainVersion | None) -> None:
    """Give the containers of a pod the images of a version, in place."""
    if version is None:
        return
    named = {NODE_CONTAINER: version.image, CHAIN_INIT: version.image}
    _set_images(spec, {**named, **version.containers, **version.init_containers})


def _set_images(spec: Plain, images: Mapping[str, str]) -> None:
    for part in ("containers", "initContainers"):
        for container in spec.get(part, ()):
            if container["name"] in images:
                container["image"] = images[container["name"]]


def _version(spec: Plain) -> str:
    nodes = (each for each in spec["containers"] if each["name"] == NODE_CONTAINER)
    return image_version(next(nodes).get("image", ""))


def _generated(full_node: CosmosFullNode, instance: Instance, tools: Tools) -> Plain:
    return {
        "hostname": to_dns_label(instance.name),
        "subdomain": to_dns_label(full_node.metadata.name),
        "serviceAccountName": account_name(full_node),
        "terminationGracePeriodSeconds": _GRACE_SECONDS,
        "containers": list(_containers(full_node, tools)),
        "initContainers": build_init_containers(full_node, instance, tools),
        "volumes": _volumes(instance),
    }


def _volumes(instance: Instance) -> list[Plain]:
    keys = (CONFIG_OVERLAY, APP_OVERLAY, NODE_KEY)
    items = [{"key": key, "path": key} for key in keys]
    return [
        {"name": HOME_VOLUME, "persistentVolumeClaim": {"claimName": instance.claim}},
        {"name": "vol-tmp", "emptyDir": {}},
        {"name": "vol-config", "configMap": {"name": instance.name, "items": items}},
        {"name": "vol-system-tmp", "emptyDir": {}},
    ]


def _containers(full_node: CosmosFullNode, tools: Tools) -> Iterable[Plain]:
    template, chain = full_node.spec.pod_template, full_node.spec.chain
    pull = {"imagePullPolicy": template.image_pull_policy} if template.image_pull_policy else {}
    probes = _probes(full_node)
    mounts = [mount(HOME_VOLUME, chain_home(full_node)), mount("vol-system-tmp", "/tmp")]
    yield {
        "name": NODE_CONTAINER,
        "image": template.image or "",
        **pull,
        **_command(full_node),
        "env": environment(full_node),
        "workingDir": HOME,
        "ports": _ports(full_node),
        "resources": template.resources.value if template.resources else {},
        "volumeMounts": mounts,
        **probes.get(NODE_CONTAINER, {}),
    }
    yield {
        **tools.container(HEALTH_CONTAINER, "healthcheck", *_rpc_host(full_node)),
        **pull,
        "ports": [_port(HEALTH_CONTAINER, HEALTH_PORT)],
        "resources": tools.resources,
        "volumeMounts": [mount(HOME_VOLUME, chain_home(full_node), read_only=True)],
        **probes.get(HEALTH_CONTAINER, {}),
    }
    if chain.versions:
        backend = ("-b", chain.database_backend) if chain.database_backend else ()
        yield {
            **tools.container(VERSION_CONTAINER, "versioncheck", "-d", *backend),
            **pull,
            "env": [*environment(full_node), *tools.identity],
            "workingDir": HOME,
            "resources": tools.resources,
            "volumeMounts": mounts,
        }


def _command(full_node: CosmosFullNode) -> Plain:
    chain = full_node.spec.chain
    args = ["start", "--home", chain_home(full_node)]
    args += ["--x-crisis-skip-assert-invariants"] if chain.skip_invariants else []
    args += ["--log_level", chain.log_level] if chain.log_level else []
    args += ["--log_format", chain.log_format] if chain.log_format else []
    args += chain.additional_start_args
    sleep = chain.privval_sleep_seconds
    seconds = _SLEEP_SECONDS if sleep is None else sleep
    if is_sentry(full_node) and seconds:
        return {
            "command": ["sh"],
            "args": ["-c", f"sleep {seconds}\n{' '.join([chain.binary, *args])}"],
        }
    return {"command": [chain.binary], "args": args}


def _rpc_host(full_node: CosmosFullNode) -> tuple[str, str]:
    return "--rpc-host", f"http://localhost:{rpc_port(full_node)}"


def _ports(full_node: CosmosFullNode) -> list[Plain]:
    numbers = {
        "api": API_PORT, "rosetta": ROSETTA_PORT, "grpc": GRPC_PORT,
        "prometheus": PROMETHEUS_PORT, "p2p": p2p_port(full_node), "rpc": rpc_port(full_node),
        "grpc-web": GRPC_WEB_PORT, **({"privval": PRIVVAL_PORT} if is_sentry(full_node) else {}),
    }  # fmt: skip
    return [_port(name, number) for name, number in numbers.items()]


def _port(name: str, number: int) -> Plain:
    return {"name": name, "containerPort": number, "protocol": "TCP"}


def _probes(full_node: CosmosFullNode) -> dict[str, Plain]:
    """The readiness probes of containers, by name."""
    strategy = full_node.spec.pod_template.probes.strategy
    if strategy is None:
        # A sentry is ready when its signer is there, which comes through a Service.
        strategy = "None" if is_sentry(full_node) else "InSync"
    node = _probe("/health", rpc_port(full_node), failures=5)
    health = _probe("/", HEALTH_PORT, failures=3)
    match strategy:
        case "None":
            return {}
        case "Reachable":
            return {NODE_CONTAINER: node}
        case _:
            return {NODE_CONTAINER: node, HEALTH_CONTAINER: health}


def _probe(path: str, port: int, *, failures: int) -> Plain:
    return {
        "readinessProbe": {
            "httpGet": {"path": path, "port": port, "scheme": "HTTP"},
            "initialDelaySeconds": 1,
            "timeoutSeconds": 10,
            "periodSeconds": 10,
            "successThreshold": 1,
            "failureThreshold": failures,
        }
    }


def _patch(full_node: CosmosFullNode) -> Plain:
    """What the user's template lays over the generated pod; an empty list changes nothing."""
    template = full_node.spec.pod_template
    given: Plain = {
        "affinity": template.affinity.value if template.affinity else None,
        "containers": _values(template.containers),
        "initContainers": _values(template.init_containers),
        "volumes": _values(template.volumes),
        "tolerations": _values(template.tolerations),
        "imagePullSecrets": [{"name": each.name} for each in template.image_pull_secrets],
        "nodeSelector": dict(template.node_selector),
        "priority": template.priority,
        "priorityClassName": template.priority_class_name,
        "terminationGracePeriodSeconds": template.termination_grace_period_seconds,
    }
    return {key: value for key, value in given.items() if value not in (None, "", [], {})}


def _values(given: Iterable[Opaque]) -> list[Any]:
    return [each.value for each in given]
