"""TypedValue: the fields of an object, how two objects differ, merging and removing.

These are the four operations server-side apply is made of. All are pure; they never change their
arguments and may share parts of them with their results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from quintant.cluster.apiserver.structuredmerge.atoms import atom_error
from quintant.cluster.apiserver.structuredmerge.fieldset import FieldSet, field_element
from quintant.cluster.apiserver.structuredmerge.list_items import (
    MISSING,
    align_items,
    associative,
    index_items,
    list_elements,
    unique_elements,
)
from quintant.cluster.apiserver.structuredmerge.schema import DEDUCED, MergeSchema, TypingError

UNDECLARED = "field not declared in schema"
_NESTED = (dict, list)
_NOTHING = FieldSet()
_FINE: Sequence[TypingError] = ()


class Comparison(msgspec.Struct, frozen=True):
    """How one object differs from another."""

    added: FieldSet = msgspec.field(default_factory=FieldSet)
    modified: FieldSet = msgspec.field(default_factory=FieldSet)
    removed: FieldSet = msgspec.field(default_factory=FieldSet)

    def __bool__(self) -> bool:
        return bool(self.modified or self.added or self.removed)

    def attach(self, element: str, below: Comparison) -> None:
        for mine, theirs in (
            (self.added, below.added),
            (self.modified, below.modified),
            (self.removed, below.removed),
        ):
            if theirs.members or theirs.children:
                mine.children[element] = theirs

    def without(self, ignored: FieldSet) -> Comparison:
        """The comparison apart from some fields and everything below them."""
        return Comparison(
            self.added.without(ignored),
            self.modified.without(ignored),
            self.removed.without(ignored),
        )


def field_set_of(value: Any, schema: MergeSchema) -> FieldSet:
    """The fields an applied configuration claims."""
    found, errors = FieldSet(), list[TypingError]()
    if isinstance(value, dict):
        for name, child in value.items():
            element, declared = field_element(name), schema.declares(name)
            if schema.closed and not declared:
                errors.append(TypingError(UNDECLARED, (element,)))
                continue
            below = schema.child(name)
            if not isinstance(child, _NESTED) and not atom_error(child, below.atom):
                found.members.add(element)
                continue
            errors += _claim(found, element, child, below)
            if child is None or child == {} or not declared:
                found.members.add(element)
    else:
        for element, child in unique_elements(value, schema):
            errors += _claim(found, element, child, schema.item())
            found.members.add(element)
    if errors:
        raise TypingError.joined(errors)
    return found


def compare(old: Any, new: Any, schema: MergeSchema) -> Comparison:
    """What was added, modified and removed between two maps or lists."""
    found = Comparison()
    if isinstance(old, list) or isinstance(new, list):
        left, right = index_items(old, schema), index_items(new, schema)
        for element in left | right:
            one, other = left.get(element, MISSING), right.get(element, MISSING)
            if one is not other and one != other:
                _difference(found, element, one, other, schema.item())
        return found
    before, after = old or {}, new or {}
    for name, other in after.items():
        one = before.get(name, MISSING)
        if one is other or one == other:
            continue
        if type(one) is type(other) and not isinstance(one, _NESTED):
            found.modified.members.add(field_element(name))
        else:
            _difference(found, field_element(name), one, other, schema.child(name))
    for name, one in before.items():
        if name not in after:
            _difference(found, field_element(name), one, MISSING, schema.child(name))
    return found


def all_fields(value: Any, schema: MergeSchema) -> FieldSet:
    """Every field of a map and every item of a list, with all that is below."""
    found = FieldSet()
    if isinstance(value, list):
        children, item = index_items(value, schema), schema.item()
        below = ((element, child, item) for element, child in children.items())
    else:
        below = ((field_element(name), value[name], schema.child(name)) for name in value)
    for element, child, shape in below:
        found.members.add(element)
        if not _flat(child, shape):
            found.attach(element, all_fields(child, shape))
    return found


def merge(live: Any, config: Any, schema: MergeSchema) -> Any:
    """The live value with a configuration laid over it."""
    if config is MISSING or (config is None and not _flat(live, schema)):
        return live
    if isinstance(live, dict) and isinstance(config, dict) and not schema.atomic:
        merged = dict(live)
        for name, value in config.items():
            if value is None or isinstance(value, dict | list):
                value = merge(live.get(name, MISSING), value, schema.child(name))
            merged[name] = value
        return merged
    if isinstance(live, list) and isinstance(config, list) and associative(schema):
        return [
            merge(one, other, schema.item()) for one, other in align_items(live, config, schema)
        ]
    return config


def remove(value: Any, gone: FieldSet, schema: MergeSchema) -> Any:
    """The value without some of its fields and items; null where the last one went."""
    if isinstance(value, dict) and not schema.atomic:
        left = {
            name: _remove_below(child, gone, field_element(name), schema.child(name))
            for name, child in value.items()
            if field_element(name) not in gone.members
        }
        return left or None
    if isinstance(value, list) and associative(schema):
        return [
            _remove_below(child, gone, element, schema.item())
            for element, child in list_elements(value, schema)
            if element not in gone.members
        ] or None
    return value


def ensure_named_members(fields: FieldSet, schema: MergeSchema) -> FieldSet:
    """The set with every declared field that has owned children as a member, too."""
    full = FieldSet()
    full.members = set(fields.members)
    for element, below in fields.children.items():
        name = element[2:] if element.startswith("f:") else None
        if name is not None and schema.declares(name):
            full.members.add(element)
        full.children[element] = ensure_named_members(
            below, schema.item() if name is None else schema.child(name)
        )
    return full


def _claim(
    fields: FieldSet, element: str, value: Any, schema: MergeSchema
) -> Sequence[TypingError]:
    """Claim a value, in place; what is wrong with it."""
    if complaint := atom_error(value, schema.atom):
        return [TypingError(complaint, (element,))]
    if not isinstance(value, _NESTED):
        fields.members.add(element)
        return _FINE
    if _leaf(value, schema):
        fields.members.add(element)
        return [error.below(element) for error in _errors_within(value, schema)]
    if value:
        try:
            fields.attach(element, field_set_of(value, schema))
        except TypingError as error:
            return [error.below(element)]
    return _FINE


def _errors_within(value: Any, schema: MergeSchema) -> Sequence[TypingError]:
    """What is wrong in a map or list that is owned as a whole, and has to fit its type as well.

    Nothing is, where nothing is known.
    """
    if schema is DEDUCED:
        return _FINE
    if isinstance(value, dict):
        return _errors_of(value, schema)
    items = ((f"i:{at}", child) for at, child in enumerate(value))
    return [
        error for element, child in items for error in _errors_at(element, child, schema.item())
    ]


def _errors_of(value: dict[str, Any], schema: MergeSchema) -> list[TypingError]:
    errors: list[TypingError] = []
    for name, child in value.items():
        element = field_element(name)
        if schema.closed and not schema.declares(name):
            errors.append(TypingError(UNDECLARED, (element,)))
        else:
            errors += _errors_at(element, child, schema.child(name))
    return errors


def _errors_at(element: str, value: Any, schema: MergeSchema) -> Sequence[TypingError]:
    return _claim(FieldSet(), element, value, schema)


def _difference(
    comparison: Comparison, element: str, old: Any, new: Any, schema: MergeSchema
) -> None:
    """Note how two values differ that are not equal."""
    if old is MISSING:
        comparison.added.members.add(element)
        comparison.added.attach(element, _below(new, schema))
    elif new is MISSING:
        comparison.removed.members.add(element)
        comparison.removed.attach(element, _below(old, schema))
    elif not _alike(old, new):
        # One sort of value took the place of another: nothing below the old one is left.
        comparison.removed.attach(element, _below(old, schema))
        comparison.added.attach(element, _below(new, schema))
        comparison.modified.members.add(element)
    elif _flat(old, schema) and _flat(new, schema):
        comparison.modified.members.add(element)
    else:
        comparison.attach(element, compare(old, new, schema))


def _below(value: Any, schema: MergeSchema) -> FieldSet:
    """The fields of a value, if it has any."""
    return _NOTHING if _flat(value, schema) else all_fields(value, schema)


def _remove_below(value: Any, gone: FieldSet, element: str, schema: MergeSchema) -> Any:
    below = gone.children.get(element)
    return value if below is None else remove(value, below, schema)


def _leaf(value: Any, schema: MergeSchema) -> bool:
    """Whether a value is owned as a whole."""
    if isinstance(value, dict):
        return schema.atomic
    if isinstance(value, list):
        return not associative(schema)
    return True


def _flat(value: Any, schema: MergeSchema) -> bool:
    """Whether there is nothing below a value to compare: a leaf, nothing, or an empty map."""
    return _leaf(value, schema) or not value


def _alike(old: Any, new: Any) -> bool:
    """Whether both are maps or both are lists; null goes with either."""
    return old is None or new is None or type(old) is type(new)
