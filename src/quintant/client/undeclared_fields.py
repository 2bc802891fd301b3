"""Fields that the installed definition of a kind does not have, as the server's refusals name them.

Server-side apply refuses a whole body because of one field that the schema does not declare. Who
would rather write the others keeps those names, and leaves the fields out from then on. A process
forgets them when it ends: the definition may have them by the next start.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from quintant.core.object import Object

Path = tuple[str, ...]

_REFUSED = re.compile(r"(?<=\s)(\.(?:[^\s:\[\]]|\[[^\]]*\])+): field not declared in schema")
# Which member of a list a path leads through; all of them have the same fields.
_MEMBER = re.compile(r"\[[^\]]*\]")


def named_fields(message: str) -> frozenset[Path]:
    """The fields that a refusal names, without the list members that they were found in."""
    found = (_MEMBER.sub("", path) for path in _REFUSED.findall(message))
    return frozenset(tuple(path.strip(".").split(".")) for path in found)


class UndeclaredFields:
    """What is left out of each kind."""

    __slots__ = ("_paths",)

    def __init__(self) -> None:
        self._paths: dict[type[Object], frozenset[Path]] = {}

    def learn(self, kind: type[Object], message: str) -> list[str]:
        """Take from a refusal what is new in it; nothing if it was about something else."""
        known = self._paths.get(kind, frozenset())
        new = named_fields(message) - known
        if new:
            self._paths[kind] = known | new
        return sorted("." + ".".join(path) for path in new)

    def leave_out(self, kind: type[Object], body: bytes) -> bytes:
        """A body without the fields that the server does not know."""
        paths = self._paths.get(kind)
        if not paths:
            return body
        plain = msgspec.json.decode(body)
        _remove(plain, paths)
        return msgspec.json.encode(plain)


def _remove(value: Any, paths: Iterable[Path]) -> None:
    for member in value if isinstance(value, list) else ():
        _remove(member, paths)
    if not isinstance(value, dict):
        return
    for first, *rest in paths:
        if not rest:
            value.pop(first, None)
        elif first in value:
            _remove(value[first], [tuple(rest)])
