"""Texts, keys and conditions that thousands of objects have, each held once."""

from __future__ import annotations

from collections.abc import Mapping

from quintant.api.meta import Condition
from quintant.core.object import Request

NOTHING: Mapping[str, str] = {}
"""What absent labels are, once for all: else every object would have an empty dict of its own."""
POOL_SIZE = 100_000
_strings: dict[str, str] = {}
"""Names of nodes and reasons, each held once: there are few, and thousands of objects have them."""
_keys: dict[Request, tuple[Request, str]] = {}
"""The keys of devices and how they are written, each held once for all of a device's objects."""
CONDITIONS = 4096
"""Few, as those of a fleet that was not applied at once differ in their times."""
_conditions: dict[Condition, Condition] = {}
"""What is said of many devices in the same words."""


def shared(text: str) -> str:
    """The one instance of a text that many objects have."""
    if len(_strings) > POOL_SIZE:
        _strings.clear()
    return _strings.setdefault(text, text)


def shared_condition(condition: Condition) -> Condition:
    """The one instance of a condition that many devices have."""
    if len(_conditions) > CONDITIONS:
        _conditions.clear()
    return _conditions.setdefault(condition, condition)


def device_key(name: str, namespace: str) -> Request:
    """The key of a device, the same for all of its objects."""
    return _known(Request(name, namespace))[0]


def device_text(key: Request) -> str:
    """A device's key as indexes have it."""
    return _known(key)[1]


def _known(key: Request) -> tuple[Request, str]:
    found = _keys.get(key)
    if found is None:
        if len(_keys) > POOL_SIZE:
            _keys.clear()
        held = Request(key.name, shared(key.namespace))
        found = _keys[held] = held, str(held)
    return found
