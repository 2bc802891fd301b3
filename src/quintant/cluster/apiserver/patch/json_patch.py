"""jsonPatcher: JSON patch (RFC 6902), as lenient as the engine of a real server.

Differences from the RFC that clients rely on: replacing an absent key of a map adds it, testing an
absent place against null holds, a negative index counts from the end, and an operation whose path
does not begin with a slash does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from quintant.cluster.apiserver.golang.depth import check
from quintant.cluster.apiserver.meta.status import (
    bad_request,
    too_many_operations,
    unprocessable,
)
from quintant.core.json_pointer import unescape_step

MAX_OPERATIONS = 10_000
"""Operations in one patch: the limit of a real server."""
MAX_COPIED = 3 * 1024 * 1024
"""Bytes that the copies of one patch may add, else a few of them would fill the memory."""


class InapplicableOperation(Exception):
    """An operation cannot be applied."""

    def __init__(self, operation: dict[str, Any]) -> None:
        super().__init__("it does not apply")
        self.operation = operation


class _Absent(Exception):
    """The path leads nowhere."""


def apply_patch(document: Any, operations: Any) -> Any:
    """The document after every operation; it is changed in place as far as possible."""
    if not isinstance(operations, list) or not all(isinstance(op, dict) for op in operations):
        raise bad_request("error decoding patch: a JSON patch must be a list of operations")
    if len(operations) > MAX_OPERATIONS:
        raise too_many_operations(len(operations), MAX_OPERATIONS)
    try:
        return apply_operations(document, operations)
    except InapplicableOperation:
        raise unprocessable() from None


def apply_operations(document: Any, operations: Sequence[dict[str, Any]]) -> Any:
    """The document after every operation; InapplicableOperation has the first that is none."""
    root, operation = {"": document}, {}
    try:
        copied = 0
        for operation in operations:
            copied += _weight(root, operation)
            if copied > MAX_COPIED:
                raise ValueError("too much is copied")
            _step(root, operation)
        check(root[""])
    except (_Absent, TypeError, ValueError, KeyError, RecursionError):
        raise InapplicableOperation(operation) from None
    return root[""]


def inapplicable(operation: dict[str, Any]) -> str:
    """Why an operation cannot be applied, as a real server's engine says it."""
    name, path = operation.get("op"), operation.get("path")
    if not isinstance(name, str) or name not in _ACTIONS:
        return f"Unexpected kind: {name}"
    if name == "test":
        return f"testing value {path} failed: test failed"
    quoted_path = f'"{path}"' if name in ("add", "remove") else path
    return f"{name} operation does not apply: doc is missing path: {quoted_path}: missing value"


def _weight(root: dict[str, Any], operation: dict[str, Any]) -> int:
    """The bytes that an operation copies."""
    if operation["op"] != "copy":
        return 0
    return len(msgspec.json.encode(_source(root, operation)))


def _step(root: dict[str, Any], operation: dict[str, Any]) -> None:
    act = _ACTIONS[operation["op"]]
    path = operation["path"]
    if isinstance(path, str) and path and not path.startswith("/"):
        return
    act(root, _split(path), operation)


def _add(root: Any, path: list[str], operation: dict[str, Any]) -> None:
    _insert(root, path, operation.get("value"))


def _remove(root: Any, path: list[str], operation: dict[str, Any]) -> None:
    parent, key = _parent(root, path)
    if isinstance(parent, list):
        del parent[_index(parent, key)]
    else:
        del parent[key]


def _replace(root: Any, path: list[str], operation: dict[str, Any]) -> None:
    parent, key = _parent(root, path)
    if isinstance(parent, list):
        parent[_index(parent, key)] = operation.get("value")
    else:
        parent[key] = operation.get("value")


def _move(root: Any, path: list[str], operation: dict[str, Any]) -> None:
    source = _split(operation["from"])
    value = _read(root, source)
    _remove(root, source, operation)
    _insert(root, path, value)


def _copy(root: Any, path: list[str], operation: dict[str, Any]) -> None:
    _insert(root, path, _clone(_source(root, operation)))


def _source(root: Any, operation: dict[str, Any]) -> Any:
    """What an operation copies: null if its parent has no such member."""
    parent, key = _parent(root, _split(operation["from"]))
    return parent.get(key) if isinstance(parent, dict) else parent[_index(parent, key)]


def _test(root: Any, path: list[str], operation: dict[str, Any]) -> None:
    try:
        found = _read(root, path)
    except _Absent:
        found = None
    if not same(found, operation.get("value")):
        raise ValueError("test failed")


_Action = Callable[[Any, list[str], dict[str, Any]], None]
_ACTIONS: dict[str, _Action] = {
    "add": _add,
    "remove": _remove,
    "replace": _replace,
    "move": _move,
    "copy": _copy,
    "test": _test,
}


def same(one: Any, other: Any) -> bool:
    """Equality of JSON values: true is not 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _insert(root: Any, path: list[str], value: Any) -> None:
    parent, key = _parent(root, path)
    if not isinstance(parent, list):
        parent[key] = value
    elif key == "-":
        parent.append(value)
    else:
        at, size = int(key), len(parent) + 1
        if not -size <= at < size:
            raise _Absent
        # From behind, it is counted in the list that will be.
        parent.insert(at if at >= 0 else size + at, value)


def _parent(root: Any, path: list[str]) -> tuple[Any, str]:
    parent = _read(root, path[:-1])
    if not isinstance(parent, dict | list):
        raise _Absent
    return parent, path[-1]


def _read(root: Any, path: list[str]) -> Any:
    found = root
    for key in path:
        if isinstance(found, list):
            found = found[_index(found, key)]
        elif isinstance(found, dict) and key in found:
            found = found[key]
        else:
            raise _Absent
    return found


def _index(items: list[Any], key: str) -> int:
    at = int(key)
    if not -len(items) <= at < len(items):
        raise _Absent
    return at


def _split(path: object) -> list[str]:
    """The keys of a pointer, under the root's own empty key; TypeError if it is none."""
    if not isinstance(path, str):
        raise TypeError("a pointer is a text")
    return [unescape_step(part) for part in path.split("/")]


def _clone(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _clone(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_clone(child) for child in value]
    return value
