"""What somebody else changed in our Deployment, and how to take it back. Pure.

Two things can be wrong with it. A field that we set says something else: applying it again sets it
right. Or something is there that we never set: a container, a volume, a variable. That belongs to
whoever applied it, so applying does not remove it, and a JSON patch has to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from quintant.api.apps import Deployment
from quintant.api.quantity import parse_quantity
from quintant.core.codec import to_plain
from quintant.operators.portal.builders import CONTAINER

Plain = Mapping[str, Any]
Patch = list[dict[str, Any]]

# How the members of a list are told apart, where the API server merges it.
_KEYS = ("name", "mountPath", "containerPort")
# What is ours alone in the template: of these, whatever we did not set has to go.
_POD_LISTS = ("containers", "initContainers", "ephemeralContainers", "volumes")
_POD_WHOLE = ("nodeSelector", "tolerations", "affinity", "hostNetwork", "hostPID", "hostIPC")
_CONTAINER_LISTS = ("env", "volumeMounts", "ports")
_CONTAINER_WHOLE = ("command", "args", "envFrom", "lifecycle", "startupProbe", "workingDir")
_AMOUNTS = ("requests", "limits")
_TEMPLATE = "/spec/template/spec"


def drifted(have: Deployment, want: Deployment) -> bool:
    """Whether a Deployment says something else than what was applied."""
    live, wanted = to_plain(have), to_plain(want)
    meta, desired = live["metadata"], wanted["metadata"]
    described = all(
        covers(meta.get(part, {}), desired.get(part, {})) for part in ("labels", "annotations")
    )
    return not (described and covers(live["spec"], wanted["spec"]))


def strays(have: Deployment, want: Deployment) -> Patch:
    """The JSON patch that removes what we did not set; empty if there is nothing of the kind."""
    live, wanted = have.spec.template.value, want.spec.template.value
    found = list(_strays(live.get("spec") or {}, wanted["spec"]))
    if not found:
        return []
    version = have.metadata.resource_version
    guard = {"op": "test", "path": "/metadata/resourceVersion", "value": version}
    return [guard, *({"op": "remove", "path": path} for path in found)]


def covers(live: Any, want: Any) -> bool:
    """Whether everything that is wanted is there; what is there besides does not count."""
    if isinstance(want, dict):
        return isinstance(live, dict) and all(
            _covers(key, live.get(key), value) for key, value in want.items()
        )
    if isinstance(want, list):
        return isinstance(live, list) and _lists(live, want)
    return bool(live == want)


def _covers(key: str, live: Any, want: Any) -> bool:
    if key in _AMOUNTS and isinstance(want, dict):
        return isinstance(live, dict) and _amounts(live) == _amounts(want)
    return covers(live, want)


def _amounts(given: Plain) -> dict[str, Any]:
    """Amounts by value: the server writes 1000m as 1."""
    return {name: parse_quantity(value) for name, value in given.items()}


def _lists(live: Sequence[Any], want: Sequence[Any]) -> bool:
    key = _key(want)
    if key is None:
        return len(live) == len(want) and all(map(covers, live, want))
    there = {each.get(key): each for each in live if isinstance(each, dict)}
    return all(covers(there.get(each[key]), each) for each in want)


def _key(members: Sequence[Any]) -> str | None:
    plain = [each for each in members if isinstance(each, dict)]
    if len(plain) != len(members):
        return None
    return next((key for key in _KEYS if all(key in each for each in plain)), None)


def _strays(live: Plain, want: Plain) -> Iterator[str]:
    """The paths to remove; the members of a list from its end, so that places stay true."""
    yield from _of(live, want, _TEMPLATE, _POD_LISTS, _POD_WHOLE)
    ours = next(each for each in want["containers"] if each["name"] == CONTAINER)
    for at, container in enumerate(live.get("containers") or ()):
        if container.get("name") == CONTAINER:
            # The patch removes other containers first, and with them those that stand before.
            place = at - sum(each["name"] != CONTAINER for each in live["containers"][:at])
            path = f"{_TEMPLATE}/containers/{place}"
            yield from _of(container, ours, path, _CONTAINER_LISTS, _CONTAINER_WHOLE)


def _of(
    live: Plain, want: Plain, path: str, lists: Sequence[str], whole: Sequence[str]
) -> Iterator[str]:
    for field in whole:
        if live.get(field) and not want.get(field):
            yield f"{path}/{field}"
    for field in lists:
        members, wanted = live.get(field) or [], want.get(field) or []
        if members and not wanted:
            yield f"{path}/{field}"
            continue
        key = _key(wanted)
        held = {each[key] for each in wanted} if key else set()
        foreign = [at for at, each in enumerate(members) if key and each.get(key) not in held]
        yield from (f"{path}/{field}/{at}" for at in reversed(foreign))
