"""What somebody else changed in a child of ours, and how to take it back. Pure.

Two things can be wrong with it. A field that we set says something else: applying it again sets it
right. Or something is there that we never set: a container, a volume, a variable. That belongs to
whoever applied it, so applying does not remove it, and a JSON patch has to.

Of a pod template we hold all that decides what runs and where; the rest is the server's to fill in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from zlib import crc32

from quintant.api.quantity import parse_quantity
from quintant.core.codec import to_plain
from quintant.core.object import Object

JsonObject = Mapping[str, Any]
Patch = list[dict[str, Any]]

POD_TEMPLATE = "/spec/template/spec"
"""Where Deployments, StatefulSets, DaemonSets and Jobs have the spec of their pods."""

# How the members of a list are told apart, where the API server merges it.
_KEYS = ("name", "mountPath", "containerPort", "port")
# What is no desire of ours: the rest of an object is.
_APART = ("apiVersion", "kind", "metadata", "status")
# What is ours alone in a pod: of these, whatever we did not set has to go.
_CONTAINERS = ("containers", "initContainers")
_POD_LISTS = (*_CONTAINERS, "ephemeralContainers", "volumes")
_POD_WHOLE = ("nodeSelector", "tolerations", "affinity", "hostNetwork", "hostPID", "hostIPC")
_CONTAINER_LISTS = ("env", "volumeMounts", "ports")
_CONTAINER_WHOLE = ("command", "args", "envFrom", "lifecycle", "startupProbe", "workingDir")
_AMOUNTS = ("requests", "limits")


def drifted(have: Object, want: Object) -> bool:
    """Whether an object says something else than what was applied; fits `Policy(drifted=…)`."""
    live, wanted = to_plain(have), to_plain(want)
    meta, desired = live.get("metadata", {}), wanted.get("metadata", {})
    described = all(
        covers(meta.get(part, {}), desired.get(part, {})) for part in ("labels", "annotations")
    )
    parts = (part for part in wanted if part not in _APART)
    return not (described and all(covers(live.get(part), wanted[part]) for part in parts))


def data_checksum(data: Mapping[str, str]) -> int:
    """A number for the data of a ConfigMap, for views that keep no data to compare."""
    return crc32("\0".join(f"{key}\0{data[key]}" for key in sorted(data)).encode())


def strays(have: Object, want: Object, *, pod: str = POD_TEMPLATE) -> Patch:
    """The JSON patch that removes what we did not set of a pod; empty if there is nothing.

    `pod` is where the object has the spec of its pods. The patch fails if the object has changed
    since it was read.
    """
    found = list(_pod(_part(to_plain(have), pod), _part(to_plain(want), pod), pod))
    if not found:
        return []
    version = have.metadata.resource_version
    guard = {"op": "test", "path": "/metadata/resourceVersion", "value": version}
    return [guard, *({"op": "remove", "path": path} for path in found)]


def covers(live: Any, want: Any) -> bool:
    """Whether everything that is wanted is there; what is there besides does not count."""
    if live == want:  # as a rule, of all that is below the first levels
        return True
    if isinstance(want, dict):
        return isinstance(live, dict) and all(
            _covers(key, live.get(key), value) for key, value in want.items()
        )
    if isinstance(want, list):
        return isinstance(live, list) and _lists(live, want)
    return False


def _covers(key: str, live: Any, want: Any) -> bool:
    if key in _AMOUNTS and isinstance(want, dict):
        return isinstance(live, dict) and _amounts(live) == _amounts(want)
    return covers(live, want)


def _amounts(given: JsonObject) -> dict[str, Any]:
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


def _part(whole: JsonObject, path: str) -> JsonObject:
    for step in path.strip("/").split("/"):
        whole = whole.get(step) or {}
    return whole


def _pod(live: JsonObject, want: JsonObject, path: str) -> Iterator[str]:
    """The paths to remove; the members of a list from its end, so that indexes stay true."""
    yield from _of(live, want, path, _POD_LISTS, _POD_WHOLE)
    for field in _CONTAINERS:
        ours = {each["name"]: each for each in want.get(field) or ()}
        kept = [each for each in live.get(field) or () if each.get("name") in ours]
        # The patch removes foreign containers first: the indexes are those among our own.
        for index, container in enumerate(kept):
            item_path = f"{path}/{field}/{index}"
            wanted = ours[container["name"]]
            yield from _of(container, wanted, item_path, _CONTAINER_LISTS, _CONTAINER_WHOLE)


def _of(
    live: JsonObject, want: JsonObject, path: str, lists: Sequence[str], whole: Sequence[str]
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
