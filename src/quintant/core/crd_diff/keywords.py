"""What the keywords of one schema say before and after: wider is safe, narrower is breaking.

The rules are those of OLM's upgrade preflight, and more; what is wider is safe here, since no
stored object is refused by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from quintant.core.crd_diff.change import DefinitionChange, Schema, breaking, safe

INT_OR_STRING = "x-kubernetes-int-or-string"
PRESERVE = "x-kubernetes-preserve-unknown-fields"
EMBEDDED = "x-kubernetes-embedded-resource"
RULES = "x-kubernetes-validations"
LOWER_BOUNDS = ("minimum", "minLength", "minItems", "minProperties")
UPPER_BOUNDS = ("maximum", "maxLength", "maxItems", "maxProperties")
FLAGS = ("exclusiveMinimum", "exclusiveMaximum", "uniqueItems", EMBEDDED)
"""What narrows a field once it is true."""
LOGIC = ("allOf", "anyOf", "oneOf", "not")
TEXTS = ("description", "title", "example", "externalDocs")
MERGE = {
    "x-kubernetes-list-type": "atomic",
    "x-kubernetes-map-type": "granular",
    "x-kubernetes-list-map-keys": None,
}
"""How appliers share a list or map, and what goes without saying."""
ANYTHING = "anything"
EITHER = "integer or string"

_Rule = Callable[[str, Schema, Schema], Iterator[DefinitionChange]]


def keyword_changes(path: str, old: Schema, new: Schema) -> Iterator[DefinitionChange]:
    """Every change of the keywords of a field, those of its parts left out."""
    for rule in _RULES:
        yield from rule(path, old, new)


def field_type(schema: Schema) -> str:
    """What may stand in a field."""
    if schema.get(INT_OR_STRING):
        return EITHER
    return str(schema.get("type") or ANYTHING)


def _type(path: str, old: Schema, new: Schema) -> Iterator[DefinitionChange]:
    before, after = field_type(old), field_type(new)
    if before == after:
        return
    message = f"{before} becomes {after}"
    wider = after == ANYTHING or (before, after) in _WIDER
    yield (safe if wider else breaking)(path, "type", message)


_WIDER = {("integer", "number"), ("integer", EITHER), ("string", EITHER)}


def _enum(path: str, old: Schema, new: Schema) -> Iterator[DefinitionChange]:
    before, after = old.get("enum"), new.get("enum")
    if before == after:
        return
    if after is None:
        yield safe(path, "enum", "any value is allowed")
    elif before is None:
        yield breaking(path, "enum", f"only {_listed(after)} are allowed")
    else:
        if gone := [value for value in before if value not in after]:
            yield breaking(path, "enum", f"{_listed(gone)} not allowed any more")
        if added := [value for value in after if value not in before]:
            yield safe(path, "enum", f"{_listed(added)} allowed")


def _bounds(path: str, old: Schema, new: Schema) -> Iterator[DefinitionChange]:
    for keyword in (*LOWER_BOUNDS, *UPPER_BOUNDS):
        before, after = old.get(keyword), new.get(keyword)
        if before == after:
            continue
        if after is None:
            yield safe(path, keyword, f"no limit instead of {before}")
            continue
        narrower = before is None or (after > before) == (keyword in LOWER_BOUNDS)
        message = f"{after} instead of {'no limit' if before is None else before}"
        yield (breaking if narrower else safe)(path, keyword, message)


def _multiple_of(path: str, old: Schema, new: Schema) -> Iterator[DefinitionChange]:
    before, after = old.get("multipleOf"), new.get("multipleOf")
    if before == after:
        return
    # A server takes a definition with 0, too.
    wider = not after or (before is not None and before % after == 0)
    yield (safe if wider else breaking)(path, "multipleOf", f"{after} instead of {before}")


def _spelling(path: str, old: Schema, new: Schema) -> Iterator[DefinitionChange]:
    for keyword in ("pattern", "format"):
        before, after = old.get(keyword) or "", new.get(keyword) or ""
        if before == after:
            continue
        message = f"{after or 'none'} instead of {before or 'none'}"
        wider = not after or (before, after) in _WIDER_FORMATS
        yield (safe if wider else breaking)(path, keyword, message)


_WIDER_FORMATS = {("int32", "int64"), ("float", "double")}


def _flags(path: str, old: Schema, new: Schema) -> Iterator[DefinitionChange]:
    for keyword in FLAGS:
        before, after = bool(old.get(keyword)), bool(new.get(keyword))
        if before != after:
            yield (breaking if after else safe)(path, keyword, f"{_word(after)} now")


def _null(path: str, old: Schema, new: Schema) -> Iterator[DefinitionChange]:
    before, after = bool(old.get("nullable")), bool(new.get("nullable"))
    if before and not after:
        yield breaking(path, "nullable", "null is not allowed any more")
    elif after and not before:
        yield safe(path, "nullable", "null is allowed")


def _default(path: str, old: Schema, new: Schema) -> Iterator[DefinitionChange]:
    before, after = old.get("default"), new.get("default")
    if before == after and ("default" in old) == ("default" in new):
        return
    if "default" not in old:
        message = f"{after!r} stands wherever nothing was given"
    elif "default" not in new:
        message = f"{before!r} does not stand any more where nothing is given"
    else:
        message = f"{after!r} instead of {before!r} where nothing is given"
    yield breaking(path, "default", message)


def _required(path: str, old: Schema, new: Schema) -> Iterator[DefinitionChange]:
    before, after = set(old.get("required") or ()), set(new.get("required") or ())
    properties = new.get("properties") or {}
    for name in sorted(after - before):
        given = "default" in (properties.get(name) or {})
        message = f"{name} must be given" + (", and has a default" if given else "")
        yield (safe if given else breaking)(path, "required", message)
    for name in sorted(before - after):
        yield safe(path, "required", f"{name} need not be given any more")


def _unknown_fields(path: str, old: Schema, new: Schema) -> Iterator[DefinitionChange]:
    before, after = bool(old.get(PRESERVE)), bool(new.get(PRESERVE))
    if before and not after:
        yield breaking(path, PRESERVE, "fields that the schema does not name are dropped")
    elif after and not before:
        yield safe(path, PRESERVE, "fields that the schema does not name are kept")


def _rules(path: str, old: Schema, new: Schema) -> Iterator[DefinitionChange]:
    before = {rule["rule"] for rule in old.get(RULES) or ()}
    after = {rule["rule"] for rule in new.get(RULES) or ()}
    for rule in sorted(after - before):
        yield breaking(path, RULES, f"a further rule may refuse what is stored: {rule}")
    for rule in sorted(before - after):
        yield safe(path, RULES, f"a rule is gone: {rule}")


def _logic(path: str, old: Schema, new: Schema) -> Iterator[DefinitionChange]:
    for keyword in LOGIC:
        before, after = old.get(keyword), new.get(keyword)
        if before == after:
            continue
        if after is None:
            yield safe(path, keyword, "it is gone")
        else:
            yield breaking(path, keyword, "it may refuse what is stored")


def _merge(path: str, old: Schema, new: Schema) -> Iterator[DefinitionChange]:
    for keyword, implied in MERGE.items():
        before, after = old.get(keyword) or implied, new.get(keyword) or implied
        if before != after:
            yield breaking(path, keyword, f"{after} instead of {before}: owners of fields change")


def _texts(path: str, old: Schema, new: Schema) -> Iterator[DefinitionChange]:
    for keyword in TEXTS:
        if old.get(keyword) != new.get(keyword):
            yield safe(path, keyword, "another text")


_RULES: tuple[_Rule, ...] = (
    _type, _enum, _bounds, _multiple_of, _spelling, _flags, _null, _default, _required,
    _unknown_fields, _rules, _logic, _merge, _texts,
)  # fmt: skip


def _listed(values: list[Any]) -> str:
    return ", ".join(repr(value) for value in values)


def _word(flag: bool) -> str:
    return "true" if flag else "false"
