"""validateProbe, validateLifecycle: probes and lifecycle hooks of containers."""

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


def probe_causes(path: str, probe: Plain, kind: str) -> Iterator[Cause]:
    """What is wrong with a probe of a kind."""
    yield from _handler_causes(path, probe)
    for name in _COUNTS:
        yield from validate_nonnegative(f"{path}.{name}", probe.get(name))
    grace = probe.get(_GRACE)
    if grace is not None and grace <= 0:
        yield invalid(f"{path}.{_GRACE}", grace, "must be greater than 0")
    if kind == "readinessProbe" and grace is not None:
        yield invalid(f"{path}.{_GRACE}", grace, "must not be set for readinessProbes")
    if kind != "readinessProbe" and probe.get("successThreshold", 1) not in (0, 1):
        yield invalid(f"{path}.successThreshold", probe["successThreshold"], "must be 1")


def life_causes(path: str, lifecycle: Plain, grace: int) -> Iterator[Cause]:
    """What is wrong with the hooks of a container whose pod has so many seconds to end."""
    for name in ("postStart", "preStop"):
        if lifecycle.get(name) is not None:
            yield from _handler_causes(f"{path}.{name}", lifecycle[name], grace)


def _handler_causes(path: str, handler: Plain, grace: int = 0) -> Iterator[Cause]:
    first, *more = [name for name in _HANDLERS if handler.get(name) is not None] or [""]
    if not first:
        yield required(path, "must specify a handler type")
    else:
        yield from _action_causes(f"{path}.{first}", handler[first], first, grace)
    for name in more:
        yield forbidden(f"{path}.{name}", "may not specify more than 1 handler type")


def _action_causes(path: str, action: Plain, kind: str, grace: int) -> Iterator[Cause]:
    match kind:
        case "exec":
            if not action.get("command"):
                yield required(f"{path}.command")
        case "httpGet":
            yield from _http_causes(path, action)
        case "tcpSocket":
            yield from validate_port(f"{path}.port", action.get("port", 0))
        case "grpc":
            yield from validate_range(f"{path}.port", action.get("port", 0), PORTS)
        case "sleep":
            seconds = action.get("seconds", 0)
            if not 0 <= seconds <= grace:
                text = f"must be non-negative and less than {_GRACE} ({grace})"
                yield invalid(path, seconds, text)


def _http_causes(path: str, action: Plain) -> Iterator[Cause]:
    if not action.get("path"):
        yield required(f"{path}.path")
    yield from validate_port(f"{path}.port", action.get("port", 0))
    yield from validate_enum(f"{path}.scheme", action.get("scheme"), _SCHEMES)
    for header in action.get("httpHeaders") or ():
        name = header.get("name") or ""
        if not _HEADER.fullmatch(name):
            yield invalid(f"{path}.httpHeaders", name, _HEADER_TEXT)
