"""validateContainers: names, images, ports, environments, probes, resources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from quintant.api.quantity import parse_quantity
from quintant.cluster.apiserver.meta.field_errors import (
    duplicate,
    forbidden,
    invalid,
    invalid_each,
    not_found,
    required,
)
from quintant.cluster.apiserver.meta.names import dns1123_label_errors, qualified_name_errors
from quintant.cluster.apiserver.validation.common import (
    PORTS,
    PROTOCOLS,
    validate_enum,
    validate_port_name,
    validate_range,
    validate_required_name,
)
from quintant.cluster.apiserver.validation.pods.env import import_causes, variable_causes
from quintant.cluster.apiserver.validation.pods.probes_hooks import life_causes, probe_causes
from quintant.cluster.apiserver.validation.pods.volumes import local_causes
from quintant.core.errors import Cause

_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_MESSAGE_POLICIES = ("File", "FallbackToLogsOnError")
_RESOURCES = ("cpu", "memory", "ephemeral-storage")
_RESTARTS = ("Always", "Never", "OnFailure")
_STAYING = "may not be set for init containers without restartPolicy=Always"
_PROPAGATIONS = ("Bidirectional", "HostToContainer", "None")
_IDS = range(2**31)
_PROFILES = ("Localhost", "RuntimeDefault", "Unconfined")

Plain = Mapping[str, Any]


def container_causes(
    path: str, containers: list[Plain], volumes: set[str], *, taken: set[str], grace: int
) -> Iterator[Cause]:
    """What is wrong with containers; their names are added to the taken ones."""
    for at, container in enumerate(containers):
        item_path = f"{path}[{at}]"
        yield from common_causes(item_path, container, volumes, taken)
        yield from _life_causes(item_path, container, grace)
    yield from _taken_causes(path, containers)


def common_causes(
    path: str, container: Plain, volumes: set[str], taken: set[str]
) -> Iterator[Cause]:
    """What is wrong with a container of any sort; its name is added to the taken ones."""
    name = container.get("name", "")
    yield from validate_required_name(f"{path}.name", name, dns1123_label_errors)
    yield from _image_causes(f"{path}.image", container.get("image", ""))
    yield from _content_causes(path, container, volumes)
    if name in taken:
        yield duplicate(f"{path}.name", name)
    taken.add(name)


def init_causes(path: str, containers: list[Plain]) -> Iterator[Cause]:
    """What only containers that stay may have."""
    for at, container in enumerate(containers):
        item_path, restart = f"{path}[{at}]", container.get("restartPolicy")
        if restart is not None:
            yield from validate_enum(f"{item_path}.restartPolicy", restart, _RESTARTS)
        for name in ("lifecycle", *_PROBES):
            if container.get(name) is not None and restart != "Always":
                yield forbidden(f"{item_path}.{name}", _STAYING)


def _life_causes(path: str, container: Plain, grace: int) -> Iterator[Cause]:
    if container.get("lifecycle") is not None:
        yield from life_causes(f"{path}.lifecycle", container["lifecycle"], grace)
    for probe in _PROBES:
        if container.get(probe) is not None:
            yield from probe_causes(f"{path}.{probe}", container[probe], probe)


def _taken_causes(path: str, containers: list[Plain]) -> Iterator[Cause]:
    """Ports of the node that are taken twice."""
    taken: set[str] = set()
    for at, container in enumerate(containers):
        for index, each in enumerate(container.get("ports") or ()):
            host_port = f"{each.get('protocol')}/{each.get('hostIP', '')}/{each.get('hostPort')}"
            if each.get("hostPort") and host_port in taken:
                yield duplicate(f"{path}[{at}].ports[{index}].hostPort", host_port)
            taken.add(host_port)


def _image_causes(path: str, image: str) -> Iterator[Cause]:
    if not image:
        yield required(path)
    elif image != image.strip():
        yield invalid(path, image, "must not have leading or trailing whitespace")


def _content_causes(path: str, container: Plain, volumes: set[str]) -> Iterator[Cause]:
    message, pull = container["terminationMessagePolicy"], container["imagePullPolicy"]
    yield from validate_enum(f"{path}.terminationMessagePolicy", message, _MESSAGE_POLICIES)
    yield from _port_causes(f"{path}.ports", container.get("ports") or [])
    yield from variable_causes(f"{path}.env", container.get("env") or [])
    yield from import_causes(f"{path}.envFrom", container.get("envFrom") or [])
    mounts = container.get("volumeMounts") or []
    yield from _mount_causes(f"{path}.volumeMounts", mounts, volumes)
    yield from validate_enum(f"{path}.imagePullPolicy", pull, _PULL_POLICIES)
    yield from _resource_causes(f"{path}.resources", container.get("resources") or {})
    yield from _security_causes(f"{path}.securityContext", container.get("securityContext") or {})


def _security_causes(field_path: str, context: Plain) -> Iterator[Cause]:
    for name in ("runAsUser", "runAsGroup"):
        if context.get(name) is not None:
            yield from validate_range(f"{field_path}.{name}", context[name], _IDS)
    if context.get("procMount") is not None:
        yield from validate_enum(
            f"{field_path}.procMount", context["procMount"], ("Default", "Unmasked")
        )
    profile = context.get("seccompProfile")
    if profile is not None:
        kind, path = profile.get("type") or "", f"{field_path}.seccompProfile"
        yield from validate_enum(f"{path}.type", kind, _PROFILES)
        if kind == "Localhost" and not profile.get("localhostProfile"):
            text = "must be set when seccomp type is Localhost"
            yield required(f"{path}.localhostProfile", text)


def _port_causes(path: str, ports: list[Plain]) -> Iterator[Cause]:
    names: set[str] = set()
    for at, each in enumerate(ports):
        item_path, name = f"{path}[{at}]", each.get("name")
        if name:
            yield from validate_port_name(f"{item_path}.name", name)
            if name in names:
                yield duplicate(f"{item_path}.name", name)
            names.add(name)
        if not each.get("containerPort"):
            yield required(f"{item_path}.containerPort")
        else:
            yield from validate_range(f"{item_path}.containerPort", each["containerPort"], PORTS)
        if each.get("hostPort"):
            yield from validate_range(f"{item_path}.hostPort", each["hostPort"], PORTS)
        yield from validate_enum(f"{item_path}.protocol", each.get("protocol"), PROTOCOLS)


def _mount_causes(path: str, mounts: list[Plain], volumes: set[str]) -> Iterator[Cause]:
    mount_paths: set[str] = set()
    for at, mount in enumerate(mounts):
        item_path, name, mount_path = f"{path}[{at}]", mount.get("name"), mount.get("mountPath")
        if not name:
            yield required(f"{item_path}.name")
        if name not in volumes:
            yield not_found(f"{item_path}.name", name or "")
        if not mount_path:
            yield required(f"{item_path}.mountPath")
        elif mount_path in mount_paths:
            yield invalid(f"{item_path}.mountPath", mount_path, "must be unique")
        mount_paths |= {mount_path} if mount_path else set()
        yield from _part_causes(path, item_path, mount)


def _part_causes(path: str, field_path: str, mount: Plain) -> Iterator[Cause]:
    """What is wrong with which part of a volume is mounted, and how."""
    part = mount.get("subPath") or ""
    yield from local_causes(f"{path}.subPath", part)
    if mount.get("subPathExpr"):
        if part:
            text = "subPathExpr and subPath are mutually exclusive"
            yield invalid(f"{field_path}.subPathExpr", mount["subPathExpr"], text)
        yield from local_causes(f"{path}.subPathExpr", mount["subPathExpr"])
    if mount.get("mountPropagation") is not None:
        yield from validate_enum(
            f"{path}.mountPropagation", mount["mountPropagation"], _PROPAGATIONS
        )


def _resource_causes(path: str, resources: Plain) -> Iterator[Cause]:
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for which, amounts in (("limits", limits), ("requests", requests)):
        for name, amount in amounts.items():
            yield from _amount_causes(f"{path}.{which}[{name}]", name, amount)
            limit = limits.get(name)
            if which == "requests":
                yield from _asked_causes(path, name, amount, limit)


def _asked_causes(path: str, name: str, amount: str, limit: str | None) -> Iterator[Cause]:
    """What is asked for is no more than the limit; of what cannot be shared, all of it."""
    whole = "/" in name or name.startswith("hugepages-")
    if limit is None:
        if whole:
            text = "Limit must be set for non overcommitable resources"
            yield required(f"{path}.limits", text)
    elif whole and parse_quantity(amount) != parse_quantity(limit):
        yield invalid(f"{path}.requests", amount, f"must be equal to {name} limit of {limit}")
    elif parse_quantity(amount) > parse_quantity(limit):
        text = f"must be less than or equal to {name} limit of {limit}"
        yield invalid(f"{path}.requests", amount, text)


def _amount_causes(path: str, name: str, amount: str) -> Iterator[Cause]:
    standard = name in _RESOURCES or name.startswith("hugepages-")
    value = parse_quantity(amount)
    complaints = qualified_name_errors(name)
    yield from invalid_each(path, name, complaints)
    if not standard and "/" not in name:
        if not complaints:
            yield invalid(path, name, "must be a standard resource type or fully qualified")
        yield invalid(path, name, "must be a standard resource for containers")
    if value < 0:
        yield invalid(path, amount, "must be greater than or equal to 0")
    elif not standard and "/" in name and value != value.to_integral_value():
        yield invalid(path, amount, "must be an integer")
