"""What a mutator changed, as a JSON patch (RFC 6902) that touches nothing else.

A typed object holds fewer fields than the one the API server has. So the two typed states are
compared field by field, and the third, the document they were decoded from, decides how each
change is written: into a map that is there, or as a whole where there is none. Lists are replaced
whole; elements that are still in the list keep every field they came with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from quintant.core.codec import encode
from quintant.core.errors import QuintantError
from quintant.core.json_pointer import escape_step
from quintant.core.object import K, Model

Operation = dict[str, Any]

_MISSING: Any = object()
# Values that say no more than an absent field does.
_NOTHING: tuple[Any, ...] = (None, "", {}, [])


class Lossy(QuintantError):
    """A list cannot be written back: elements that changed have fields their type does not know."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"cannot change the elements of {path}: they have fields that their type lacks; "
            "declare those fields, or the elements as Opaque"
        )
        self.path = path


def make_json_patch(before: K, after: K, document: Mapping[str, Any]) -> list[Operation]:
    """The operations that turn `document`, which decodes to `before`, into one like `after`."""
    return list(_compare(before, after, document, ""))


def _compare(before: Any, after: Any, held: Any, path: str) -> Iterator[Operation]:
    """What to do at a path where the document holds `held`, or _MISSING, if the two differ."""
    if _alike(before, after) and isinstance(held, Mapping):
        for name, old, new in _changes(before, after):
            yield from _compare(old, new, held.get(name, _MISSING), f"{path}/{escape_step(name)}")
    elif after is not _MISSING:
        value = _list(before, after, held, path) if isinstance(held, list) else _plain(after)
        yield {"op": "add" if held is _MISSING else "replace", "path": path, "value": value}
    elif held is not _MISSING:
        yield {"op": "remove", "path": path}


def _alike(before: Any, after: Any) -> bool:
    """Whether both are maps of the same sort, to be compared member by member."""
    if isinstance(before, Model):
        return type(before) is type(after)
    return isinstance(before, Mapping) and isinstance(after, Mapping)


def _changes(before: Any, after: Any) -> Iterator[tuple[str, Any, Any]]:
    """Name on the wire, old and new value of each member that differs; _MISSING: not sent."""
    if not isinstance(before, Model):
        for name in sorted({*before, *after}):
            old, new = before.get(name, _MISSING), after.get(name, _MISSING)
            if old != new:
                yield name, old, new
        return
    for field in msgspec.structs.fields(before):  # type: ignore[arg-type]
        old, new = getattr(before, field.name), getattr(after, field.name)
        if old != new:
            yield field.encode_name, old, _MISSING if _default(field, new) else new


def _default(field: msgspec.structs.FieldInfo, value: Any) -> bool:
    """Whether a field has its default, which means: absent. Models are compared by their fields."""
    if isinstance(value, Model):
        return False
    if field.default_factory is not msgspec.NODEFAULT:
        return bool(value == field.default_factory())
    return bool(value == field.default)


def _list(before: Any, after: Any, held: list[Any], path: str) -> Any:
    """The new list, with the document's own version of every element that did not change."""
    if not (_listed(before) and _listed(after) and len(before) == len(held)):
        return _plain(after)
    left, fresh, value = list(range(len(before))), False, []
    for element in after:
        index = next((index for index in left if before[index] == element), None)
        if index is None:
            fresh = True
            value.append(_plain(element))
        else:
            left.remove(index)
            value.append(held[index])
    if fresh and any(_loses(held[index], _plain(before[index])) for index in left):
        raise Lossy(path)
    return value


def _listed(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _loses(held: Any, known: Any) -> bool:
    """Whether the document says more than its typed form does."""
    if isinstance(held, Mapping) and isinstance(known, Mapping):
        return any(_loses(value, known.get(name)) for name, value in held.items())
    if isinstance(held, list) and isinstance(known, list) and len(held) == len(known):
        return any(map(_loses, held, known))
    return held not in _NOTHING and held != known


def _plain(value: Any) -> Any:
    return msgspec.json.decode(encode(value))
