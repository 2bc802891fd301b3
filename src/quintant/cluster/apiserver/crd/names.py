"""NamingConditionController: names of a custom kind: well spelt, and unique in the group.

A real server gives each name to who asked first; a definition that lacks one is not served, and is
looked at again whenever names may have become free.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from quintant.cluster.apiserver.golang.printing import quoted
from quintant.cluster.apiserver.meta.conditions import StatusCondition
from quintant.cluster.apiserver.meta.field_errors import invalid
from quintant.cluster.apiserver.meta.names import dns1035_label_errors
from quintant.core.errors import Cause

Names = Mapping[str, Any]

ACCEPTED = StatusCondition("NamesAccepted", True, "NoConflicts", "no conflicts found")
_RESOURCES = ("plural", "singular", "shortNames")
_KINDS = ("kind", "listKind")
# What is asked for, the reason when others have it, and where it could be theirs.
_FIELDS = {
    "plural": ("PluralConflict", _RESOURCES),
    "singular": ("SingularConflict", _RESOURCES),
    "shortNames": ("ShortNamesConflict", _RESOURCES),
    "kind": ("KindConflict", _KINDS),
    "listKind": ("ListKindConflict", _KINDS),
}


class AcceptedNames(Struct, frozen=True):
    """The names a definition has now, and whether they are all it asked for."""

    names: dict[str, Any]
    condition: StatusCondition


def accept_names(wanted: Names, accepted: Names, others: Iterable[Names]) -> AcceptedNames:
    """Give a definition the names it asks for, except those that others have."""
    everybody = [*others, accepted]
    got, refusal = dict(accepted), None
    for field, (reason, fields) in _FIELDS.items():
        taken = {name for each in everybody for name in _listed(each, fields)}
        conflicts = _conflicts(wanted.get(field), accepted.get(field), taken)
        if conflicts:
            refusal = StatusCondition("NamesAccepted", False, reason, _conflict_message(conflicts))
        elif wanted.get(field):
            got[field] = wanted[field]
        else:
            got.pop(field, None)
    got |= {"categories": wanted["categories"]} if wanted.get("categories") else {}
    return AcceptedNames({"plural": "", "kind": "", **got}, refusal or ACCEPTED)


def _listed(names: Names, fields: Iterable[str]) -> Iterator[str]:
    """What a definition is called in some fields."""
    for found in (names.get(field) or "" for field in fields):
        yield from found if isinstance(found, list) else [found]


def _conflicts(wanted: Any, accepted: Any, taken: set[str]) -> list[str]:
    requested = wanted if isinstance(wanted, list) else [wanted or ""]
    own = accepted if isinstance(accepted, list) else [accepted or ""]
    return [name for name in requested if name and name not in own and name in taken]


def _conflict_message(conflicts: list[str]) -> str:
    texts = [f"{quoted(name)} is already in use" for name in conflicts]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def validate_names(names: Names, path: str) -> Iterator[Cause]:
    """What is wrong with how names are spelt."""
    for field in ("plural", "singular"):
        yield from _spelling(names.get(field), f"{path}.{field}")
    for field in ("kind", "listKind"):
        yield from _mixed(names.get(field), f"{path}.{field}")
    for at, name in enumerate(names.get("shortNames") or ()):
        yield from _spelling(name, f"{path}.shortNames[{at}]")
    if names.get("kind") and names.get("kind") == names.get("listKind"):
        text = "kind and listKind may not be the same"
        yield invalid(f"{path}.listKind", names["listKind"], text)
    for at, name in enumerate(names.get("categories") or ()):
        yield from _spelling(name, f"{path}.categories[{at}]")


def validate_name_spelling(name: str, path: str) -> Iterator[Cause]:
    """What is wrong with a name that begins with a letter, all in one complaint."""
    if complaints := dns1035_label_errors(name):
        yield invalid(path, name, ",".join(complaints))


def _spelling(name: str | None, path: str) -> Iterator[Cause]:
    if name:
        yield from validate_name_spelling(name, path)


def _mixed(name: str | None, path: str) -> Iterator[Cause]:
    if name and (complaints := dns1035_label_errors(name.lower())):
        text = ",".join(complaints)
        yield invalid(path, name, f"may have mixed case, but should otherwise match: {text}")
