"""listItemToPathElement: what identifies an item of a list, and two lists in one order.

The part of merging (quintant.cluster.apiserver.structuredmerge.typed) that knows lists. An item is
known by an element, as in a set of fields (quintant.cluster.apiserver.structuredmerge.fieldset):
the value itself in a set, the values of its keys in a list that is a map. Pure; nothing given is
changed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from quintant.cluster.apiserver.golang.printing import quoted
from quintant.cluster.apiserver.structuredmerge.fieldset import key_element, shown, value_element
from quintant.cluster.apiserver.structuredmerge.schema import ListType, MergeSchema, TypingError

NAME_LIMIT = 256
"""Characters of a key whose element is kept: longer ones would fill the memory."""


class _Missing:
    """No value at all, which null is not."""


MISSING: Final = _Missing()


def associative(schema: MergeSchema) -> bool:
    """Whether the items of a list are told apart at all."""
    return schema.list_type is not ListType.ATOMIC


def list_elements(values: list[Any], schema: MergeSchema) -> Iterator[tuple[str, Any]]:
    """The items of a list, each with the element that names it in a set of fields."""
    for at, value in enumerate(values):
        if schema.list_type is ListType.MAP and not isinstance(value, dict):
            text = "associative list with keys may not have non-map elements"
            raise TypingError(f"element {at}: {text}")
        yield _element(at, value, schema), value


def unique_elements(values: list[Any], schema: MergeSchema) -> Iterator[tuple[str, Any]]:
    """The same of a list that may have no item twice."""
    seen: set[str] = set()
    for element, value in list_elements(values, schema):
        if element in seen:
            raise TypingError(f"duplicate entries for key {shown((element,))}")
        seen.add(element)
        yield element, value


def index_items(values: Any, schema: MergeSchema) -> dict[str, Any]:
    """Items by their element; of duplicates the last."""
    return dict(list_elements(values or [], schema))


def align_items(
    live: list[Any], config: list[Any], schema: MergeSchema
) -> Iterator[tuple[Any, Any]]:
    """Pairs of items of two lists, in the order of both merged; MISSING where one has none.

    Configured items come in the configuration's order. An item that only the live list has comes
    as early as its place there allows: before the next configured item that both lists have.
    """
    existing, configured = list(list_elements(live, schema)), list(list_elements(config, schema))
    before, wanted = dict(existing), dict(configured)
    waiting = deque(element for element, _ in existing)
    for element, value in configured:
        yield from _ahead(waiting, _shared(configured, element, before), wanted, before)
        if waiting and waiting[0] == element:
            waiting.popleft()
        yield before.get(element, MISSING), value
    yield from _ahead(waiting, None, wanted, before)


def _element(at: int, value: Any, schema: MergeSchema) -> str:
    if schema.list_type is ListType.SET:
        return value_element(value)
    if len(schema.keys) == 1:
        (name,) = schema.keys
        text = value.get(name)
        if type(text) is str and len(text) <= NAME_LIMIT:
            return _named(name, text)
    named = {name: value.get(name, default) for name, default in schema.keys.items()}
    keys = {name: found for name, found in named.items() if name in value or found is not None}
    if not keys:
        omitted = " ".join(map(quoted, named))
        raise TypingError(
            f"element {at}: associative list with keys has an element that omits all key fields "
            f"[{omitted}] (and doesn't have default values for any key fields)"
        )
    return key_element(keys)


@lru_cache(1024)
def _named(key: str, text: str) -> str:
    return key_element({key: text})


def _shared(config: list[tuple[str, Any]], since: str, before: dict[str, Any]) -> str | None:
    """The first configured element, from one on, that the live list has, too."""
    elements = [element for element, _ in config]
    rest = elements[elements.index(since) :]
    return next((element for element in rest if element in before), None)


def _ahead(
    waiting: deque[str], until: str | None, wanted: dict[str, Any], before: dict[str, Any]
) -> Iterator[tuple[Any, Any]]:
    """The live-only items at the head of the queue, which loses shared ones out of order, too."""
    while waiting and waiting[0] != until:
        element = waiting.popleft()
        if element not in wanted:
            yield before[element], MISSING
