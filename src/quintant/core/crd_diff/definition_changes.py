"""Two CustomResourceDefinitions: names, scope, versions, and the schemas of each.

They are taken as a server has accepted them: of the right types, with one version that is stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from quintant.core.crd_diff.change import DefinitionChange, Impact, Schema, breaking, safe
from quintant.core.crd_diff.schema_changes import schema_changes

Definition = Mapping[str, Any]
Version = Mapping[str, Any]
WEBHOOK = "Webhook"


def definition_changes(old: Definition, new: Definition) -> list[DefinitionChange]:
    """Every change, the worst first, and of the same kind in the order of the fields."""
    changes = [
        *_identity(old["spec"], new["spec"]),
        *_conversion(old, new),
        *_removed_versions(old, new),
        *_changed_versions(old, new),
        *_added_versions(old, new),
    ]
    return sorted(dict.fromkeys(changes), key=lambda change: -change.impact)


def all_changes(
    old: Iterable[Definition], new: Iterable[Definition]
) -> dict[str, list[DefinitionChange]]:
    """The changes of each definition, by its name; one that is not there any more is one."""
    before, after = _by_name(old), _by_name(new)
    changes = {}
    for name in sorted(before.keys() | after.keys()):
        if name not in after:
            message = "all objects of the kind go with it"
            changes[name] = [breaking("", "existingDefinitionRemoval", message)]
        elif name not in before:
            changes[name] = [safe("", "newDefinition", "it is new")]
        else:
            changes[name] = definition_changes(before[name], after[name])
    return changes


def stored_versions(definition: Definition) -> set[str]:
    """The versions in which an object of it may be stored."""
    named = (definition.get("status") or {}).get("storedVersions") or ()
    storage = {each["name"] for each in definition["spec"]["versions"] if each["storage"]}
    return {*named, *storage}


def _by_name(definitions: Iterable[Definition]) -> dict[str, Definition]:
    return {definition["metadata"]["name"]: definition for definition in definitions}


def _identity(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[DefinitionChange]:
    if old["scope"] != new["scope"]:
        yield breaking("", "scope", f"{new['scope']} instead of {old['scope']}")
    before, after = old["names"], new["names"]
    for field in ("kind", "listKind", "singular"):
        if before.get(field) != after.get(field):
            message = f"{after.get(field)} instead of {before.get(field)}"
            yield breaking("", field, message)
    for field in ("shortNames", "categories"):
        if gone := set(before.get(field) or ()) - set(after.get(field) or ()):
            yield safe("", field, f"{', '.join(sorted(gone))} not there any more")


def _conversion(old: Definition, new: Definition) -> Iterator[DefinitionChange]:
    """Nobody converts any more: the server then changes the name of the version, and no field."""
    if _converts(old) and not _converts(new) and len(_versions(new)) > 1:
        yield breaking("", "conversion", "no webhook converts between versions any more")


def _removed_versions(old: Definition, new: Definition) -> Iterator[DefinitionChange]:
    after, stored = _versions(new), stored_versions(old)
    for name, version in _versions(old).items():
        if name not in after and name in stored:
            message = "objects may be stored in it: migrate them, then take it out of status"
            yield breaking(name, "storedVersionRemoval", message)
        elif name not in after and version["served"]:
            yield breaking(name, "servedVersionRemoval", "its clients get 404")
        elif name not in after:
            yield safe(name, "versionRemoval", "it was neither stored nor served")


def _changed_versions(old: Definition, new: Definition) -> Iterator[DefinitionChange]:
    after, stored = _versions(new), stored_versions(old)
    for name, version in _versions(old).items():
        if name in after:
            yield from _served(name, version, after[name], stored)
            yield from _subresources(name, version, after[name])
            yield from schema_changes(name, _schema(version), _schema(after[name]))


def _served(name: str, old: Version, new: Version, stored: set[str]) -> Iterator[DefinitionChange]:
    if old["served"] and not new["served"]:
        suffix = ", and objects may be stored in it" if name in stored else ""
        yield breaking(name, "served", f"its clients get 404{suffix}")
    elif new["served"] and not old["served"]:
        yield safe(name, "served", "it is served")
    if new.get("deprecated") and not old.get("deprecated"):
        yield safe(name, "deprecated", "its clients are warned")


def _subresources(name: str, old: Version, new: Version) -> Iterator[DefinitionChange]:
    before, after = old.get("subresources") or {}, new.get("subresources") or {}
    for each in ("status", "scale"):
        if each in before and each not in after:
            yield breaking(name, f"subresources.{each}", "its clients get 404")
        elif each == "status" and each in after and each not in before:
            message = "a status that is written with the object itself is ignored"
            yield breaking(name, f"subresources.{each}", message)
        elif each in after and each not in before:
            yield safe(name, f"subresources.{each}", "it is served")
        elif before.get(each) != after.get(each):
            yield breaking(name, f"subresources.{each}", "its paths are others")
    fields = [
        {each["jsonPath"] for each in version.get("selectableFields") or ()}
        for version in (old, new)
    ]
    for path in sorted(fields[0] - fields[1]):
        yield breaking(f"{name}{path}", "selectableFields", "selectors of it are refused")


def _added_versions(old: Definition, new: Definition) -> Iterator[DefinitionChange]:
    """Versions that are new, or stored from now on: what they have not, stored objects lose."""
    before, after = _versions(old), _versions(new)
    stored = next(each for each in before.values() if each["storage"])
    impact = Impact.CONVERSION if _converts(new) else Impact.BREAKING
    for name, version in after.items():
        if name not in before:
            yield safe(name, "newVersion", f"it is new beside {stored['name']}")
        elif version["storage"] and not before[name]["storage"]:
            yield safe(
                name, "storage", f"objects are stored in it, and no more in {stored['name']}"
            )
        else:
            continue
        path = f"{stored['name']} → {name}"
        for change in schema_changes(path, _schema(stored), _schema(version)):
            if change.impact is Impact.BREAKING:
                yield replace(change, impact=impact)


def _converts(definition: Definition) -> bool:
    return bool((definition["spec"].get("conversion") or {}).get("strategy") == WEBHOOK)


def _versions(definition: Definition) -> dict[str, Version]:
    return {version["name"]: version for version in definition["spec"]["versions"]}


def _schema(version: Version) -> Schema:
    return (version.get("schema") or {}).get("openAPIV3Schema") or {}
