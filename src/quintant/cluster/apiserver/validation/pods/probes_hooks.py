"""What is wrong with what is done to running containers: probes, and the hooks of their life."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from quintant.cluster.apiserver.meta.field_errors import forbidden, invalid, required
from quintant.cluster.apiserver.validation.common import (
    PORTS,
    validate_enum,
    validate_nonnegative,
    validate_port,
    validate_range,
)
from quintant.core.errors import Cause

Plain = Mapping[str, Any]

_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc", "sleep")
_SCHEMES = ("HTTP", "HTTPS")
_COUNTS = (
    *("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold"),
    "failureThreshold",
)
_HEADER = re.compile(r"[-A-Za-z0-9]+")
_HEADER_TEXT = (
    "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', "
    "regex used for validation is '[-A-Za-z0-9]+')"
)
_GRACE = "terminationGracePeriodSeconds"


def probe_causes(where: str, probe: Plain, kind: str) -> Iterator[Cause]:
    """What is wrong with a probe of a kind."""
    yield from _handler_causes(where, probe)
    for name in _COUNTS:
        yield from validate_nonnegative(f"{where}.{name}", probe.get(name))
    grace = probe.get(_GRACE)
    if grace is not None and grace <= 0:
        yield invalid(f"{where}.{_GRACE}", grace, "must be greater than 0")
    if kind == "readinessProbe" and grace is not None:
        yield invalid(f"{where}.{_GRACE}", grace, "must not be set for readinessProbes")
    if kind != "readinessProbe" and probe.get("successThreshold", 1) not in (0, 1):
        yield invalid(f"{where}.successThreshold", probe["successThreshold"], "must be 1")


def life_causes(where: str, lifecycle: Plain, grace: int) -> Iterator[Cause]:
    """What is wrong with the hooks of a container whose pod has so many seconds to end."""
    for name in ("postStart", "preStop"):
        if lifecycle.get(name) is not None:
            yield from _handler_causes(f"{where}.{name}", lifecycle[name], grace)


def _handler_causes(where: str, handler: Plain, grace: int = 0) -> Iterator[Cause]:
    first, *more = [name for name in _HANDLERS if handler.get(name) is not None] or [""]
    if not first:
        yield required(where, "must specify a handler type")
    else:
        yield from _action_causes(f"{where}.{first}", handler[first], first, grace)
    for name in more:
        yield forbidden(f"{where}.{name}", "may not specify more than 1 handler type")


def _action_causes(where: str, action: Plain, kind: str, grace: int) -> Iterator[Cause]:
    match kind:
        case "exec":
            if not action.get("command"):
                yield required(f"{where}.command")
        case "httpGet":
            yield from _http_causes(where, action)
        case "tcpSocket":
            yield from validate_port(f"{where}.port", action.get("port", 0))
        case "grpc":
            yield from validate_range(f"{where}.port", action.get("port", 0), PORTS)
        case "sleep":
            seconds = action.get("seconds", 0)
            if not 0 <= seconds <= grace:
                text = f"must be non-negative and less than {_GRACE} ({grace})"
                yield invalid(where, seconds, text)


def _http_causes(where: str, action: Plain) -> Iterator[Cause]:
    if not action.get("path"):
        yield required(f"{where}.path")
    yield from validate_port(f"{where}.port", action.get("port", 0))
    yield from validate_enum(f"{where}.scheme", action.get("scheme"), _SCHEMES)
    for header in action.get("httpHeaders") or ():
        name = header.get("name") or ""
        if not _HEADER.fullmatch(name):
            yield invalid(f"{where}.httpHeaders", name, _HEADER_TEXT)
