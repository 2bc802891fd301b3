"""What is wrong with containers: names, images, ports, environments, probes, resources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from quintant.api.quantity import parse_quantity
from quintant.cluster.causes import duplicate, forbidden_field, missing, required, wrong
from quintant.cluster.checks.fields import (
    PORTS,
    PROTOCOLS,
    chosen,
    countable,
    named,
    port,
    port_name,
    within,
)
from quintant.cluster.names import word_complaints
from quintant.runtime.errors import Cause

_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_MESSAGE_POLICIES = ("File", "FallbackToLogsOnError")
_RESOURCES = ("cpu", "memory", "ephemeral-storage")
_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
_NO_SOURCE = (
    "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or "
    "`fileKeyRef`"
)
_NO_VARIABLE = (
    "a valid environment variable name must consist only of printable ASCII characters other "
    "than '='"
)

Plain = Mapping[str, Any]


def container_causes(
    path: str, containers: list[Plain], volumes: set[str], *, taken: set[str]
) -> Iterator[Cause]:
    """What is wrong with containers; their names are added to the taken ones."""
    for at, container in enumerate(containers):
        where = f"{path}[{at}]"
        name = container.get("name", "")
        yield from named(f"{where}.name", name, word_complaints)
        if name in taken:
            yield duplicate(f"{where}.name", name)
        taken.add(name)
        yield from _image_causes(f"{where}.image", container.get("image", ""))
        yield from _content_causes(where, container, volumes)


def _image_causes(path: str, image: str) -> Iterator[Cause]:
    if not image:
        yield required(path)
    elif image != image.strip():
        yield wrong(path, image, "must not have leading or trailing whitespace")


def _content_causes(where: str, container: Plain, volumes: set[str]) -> Iterator[Cause]:
    for probe in _PROBES:
        if probe in container:
            yield from _probe_causes(f"{where}.{probe}", container[probe], probe)
    yield from _port_causes(f"{where}.ports", container.get("ports") or [])
    yield from chain.from_iterable(
        _variable_causes(f"{where}.env[{at}]", variable)
        for at, variable in enumerate(container.get("env") or ())
    )
    mounts = container.get("volumeMounts") or []
    yield from _mount_causes(f"{where}.volumeMounts", mounts, volumes)
    message, pull = container["terminationMessagePolicy"], container["imagePullPolicy"]
    yield from chosen(f"{where}.terminationMessagePolicy", message, _MESSAGE_POLICIES)
    yield from chosen(f"{where}.imagePullPolicy", pull, _PULL_POLICIES)
    yield from _resource_causes(f"{where}.resources", container.get("resources") or {})


def _port_causes(path: str, ports: list[Plain]) -> Iterator[Cause]:
    names: set[str] = set()
    for at, each in enumerate(ports):
        where, name = f"{path}[{at}]", each.get("name")
        if name:
            yield from port_name(f"{where}.name", name)
            if name in names:
                yield duplicate(f"{where}.name", name)
            names.add(name)
        if not each.get("containerPort"):
            yield required(f"{where}.containerPort")
        else:
            yield from within(f"{where}.containerPort", each["containerPort"], PORTS)
        if each.get("hostPort"):
            yield from within(f"{where}.hostPort", each["hostPort"], PORTS)
        yield from chosen(f"{where}.protocol", each.get("protocol"), PROTOCOLS)


def _variable_causes(where: str, variable: Plain) -> Iterator[Cause]:
    name, source = variable.get("name", ""), variable.get("valueFrom")
    if not name:
        yield required(f"{where}.name")
    elif "=" in name or not (name.isascii() and name.isprintable()):
        yield wrong(f"{where}.name", name, _NO_VARIABLE)
    if source is None:
        return
    if not any(kind in source for kind in _SOURCES):
        yield wrong(f"{where}.valueFrom", "", _NO_SOURCE)
    elif variable.get("value"):
        yield wrong(f"{where}.valueFrom", "", "may not be specified when `value` is not empty")


def _mount_causes(path: str, mounts: list[Plain], volumes: set[str]) -> Iterator[Cause]:
    places: set[str] = set()
    for at, mount in enumerate(mounts):
        where, name, place = f"{path}[{at}]", mount.get("name"), mount.get("mountPath")
        if not name:
            yield required(f"{where}.name")
        elif name not in volumes:
            yield missing(f"{where}.name", name)
        if not place:
            yield required(f"{where}.mountPath")
        elif place in places:
            yield wrong(f"{where}.mountPath", place, "must be unique")
        places |= {place} if place else set()


def _probe_causes(where: str, probe: Plain, kind: str) -> Iterator[Cause]:
    first, *more = [name for name in _HANDLERS if name in probe] or [""]
    if not first:
        yield required(where, "must specify a handler type")
    elif first in ("httpGet", "tcpSocket"):
        yield from port(f"{where}.{first}.port", probe[first].get("port", 0))
    for name in more:
        yield forbidden_field(f"{where}.{name}", "may not specify more than 1 handler type")
    for name in ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold"):
        yield from countable(f"{where}.{name}", probe.get(name))
    yield from countable(f"{where}.failureThreshold", probe.get("failureThreshold"))
    if kind != "readinessProbe" and probe.get("successThreshold", 1) not in (0, 1):
        yield wrong(f"{where}.successThreshold", probe["successThreshold"], "must be 1")


def _resource_causes(where: str, resources: Plain) -> Iterator[Cause]:
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for which, amounts in (("limits", limits), ("requests", requests)):
        for name, amount in amounts.items():
            yield from _amount_causes(f"{where}.{which}[{name}]", name, amount)
            limit = limits.get(name)
            if which == "requests" and limit and parse_quantity(amount) > parse_quantity(limit):
                text = f"must be less than or equal to {name} limit of {limit}"
                yield wrong(f"{where}.requests", amount, text)


def _amount_causes(where: str, name: str, amount: str) -> Iterator[Cause]:
    standard = name in _RESOURCES or name.startswith("hugepages-")
    value = parse_quantity(amount)
    if not standard and "/" not in name:
        yield wrong(where, name, "must be a standard resource type or fully qualified")
        yield wrong(where, name, "must be a standard resource for containers")
    if value < 0:
        yield wrong(where, amount, "must be greater than or equal to 0")
    elif not standard and "/" in name and value != value.to_integral_value():
        yield wrong(where, amount, "must be an integer")
