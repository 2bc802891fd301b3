"""What pods may do: as little as the Pod Security Standard `restricted` asks for. Pure.

What a user says in a template wins, field by field: who asks for root or for a capability has it,
as far as his namespace lets him.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NOBODY = 1025
"""The user and group of all containers, as in the original's images."""
_ROOT = 0
_SYSTEM_ADMINISTRATION = ("SYS_ADMIN", "CAP_SYS_ADMIN")
_CONTAINERS = ("containers", "initContainers")

Plain = dict[str, Any]


def restrict(spec: Mapping[str, Any]) -> Plain:
    """The spec of a pod with the context of `restricted`, where nothing else is said."""
    made = {
        part: [_container(each) for each in spec[part]] for part in _CONTAINERS if spec.get(part)
    }
    return {**spec, "securityContext": _pod(spec.get("securityContext") or {}), **made}


def _pod(given: Plain) -> Plain:
    root = given.get("runAsUser") == _ROOT or given.get("runAsNonRoot") is False
    person = {} if root else {"runAsUser": NOBODY, "runAsGroup": NOBODY, "runAsNonRoot": True}
    return {
        **person,
        "fsGroup": NOBODY,
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": {"type": "RuntimeDefault"},
        **given,
    }


def _container(container: Plain) -> Plain:
    given = container.get("securityContext") or {}
    usual: Plain = {"capabilities": {"drop": ["ALL"]}}
    if not _privileged(given):  # the server takes them for a contradiction
        usual["allowPrivilegeEscalation"] = False
    return {**container, "securityContext": {**usual, **given}}


def _privileged(context: Plain) -> bool:
    added = (context.get("capabilities") or {}).get("add") or ()
    return bool(context.get("privileged")) or any(each in _SYSTEM_ADMINISTRATION for each in added)
