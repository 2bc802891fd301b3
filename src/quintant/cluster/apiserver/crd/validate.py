"""ValidateCustomResourceDefinition: names, versions, schemas, subresources, columns, conversion.

A real server keeps what all versions have in common in one place, and names it so in complaints:
`spec.validation.openAPIV3Schema` instead of `spec.versions[0].schema.openAPIV3Schema`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from quintant.cluster.apiserver.crd.approval import validate_approval
from quintant.cluster.apiserver.crd.conversion_spec import validate_bundle, validate_conversion
from quintant.cluster.apiserver.crd.names import validate_name_spelling, validate_names
from quintant.cluster.apiserver.crd.subresources import (
    validate_printer_column,
    validate_scale_subresource,
    validate_selectable_fields,
)
from quintant.cluster.apiserver.golang.printing import encoded
from quintant.cluster.apiserver.meta.field_errors import (
    INVALID,
    invalid,
    not_supported,
    required,
)
from quintant.cluster.apiserver.meta.names import dns1123_subdomain_errors
from quintant.cluster.apiserver.meta.types import JsonObject, ValidationResult
from quintant.cluster.apiserver.schema.check import format_warnings, validate_schema
from quintant.core.errors import Cause

WARNING_LIMIT = 256
"""Characters of a deprecation warning."""
# Fields of a version that are said once where all versions agree, and how they are called then.
_SHARED = {
    "schema": "validation",
    "subresources": "subresources",
    "additionalPrinterColumns": "additionalPrinterColumns",
    "selectableFields": "selectableFields",
}

_APART = "may only be set when validations.schema is included"
_SHARED_ONLY = "may only be set when `version.schema.openAPIV3Schema` is not included"


def validate_definition(
    crd: JsonObject, live: JsonObject | None, sub: str, known_causes: Sequence[Cause]
) -> ValidationResult:
    """What is wrong with a definition, and which formats in it mean nothing."""
    if sub == "status":
        return ValidationResult(
            list(validate_names(crd["status"].get("acceptedNames") or {}, _ACCEPTED))
        )
    causes = [*_name(crd, live), *_spec(crd["spec"]), *_unchanged(crd, live)]
    causes += validate_names(crd["status"].get("acceptedNames") or {}, _ACCEPTED)
    causes += _stored(crd)
    causes += validate_approval(crd, live)
    if crd["spec"].get("preserveUnknownFields"):
        text = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in"
        field_path = "spec.preserveUnknownFields"
        causes.append(invalid(field_path, True, f"{text} spec.versions[*].schema instead"))
    return ValidationResult(causes, format_warnings(crd, live))


_ACCEPTED = "status.acceptedNames"


def _name(crd: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    spec, metadata = crd["spec"], crd["metadata"]
    wanted = f"{spec['names'].get('plural', '')}.{spec.get('group', '')}"
    for field in ("generateName", "name"):
        name = metadata.get(field)
        if live is None and name and name != wanted:
            text = 'must be spec.names.plural+"."+spec.group'
            yield invalid(f"metadata.{field}", name, text)


def _spec(spec: JsonObject) -> Iterator[Cause]:
    yield from _group(spec.get("group") or "")
    scope = spec.get("scope") or ""
    if not scope:
        yield required("spec.scope")
    elif scope not in ("Cluster", "Namespaced"):
        yield not_supported("spec.scope", scope, ["Cluster", "Namespaced"])
    versions = spec.get("versions") or []
    for at, version in enumerate(versions):
        if (version.get("schema") or {}).get("openAPIV3Schema") is None:
            yield required(f"spec.versions[{at}].schema.openAPIV3Schema")
    yield from _versions(versions)
    if versions:
        first = versions[0].get("name") or ""
        yield from validate_name_spelling(first, "spec.version")
    for name in ("plural", "singular", "kind", "listKind"):
        if not spec["names"].get(name):
            yield required(f"spec.names.{name}")
    yield from validate_names(spec["names"], "spec.names")
    shared = {key: versions[0][key] for key in _common(versions)}
    yield from _parts(shared, "spec", _SHARED, status=any(map(_has_status, versions)))
    yield from validate_conversion(spec.get("conversion"), "spec.conversion")


def _group(group: str) -> Iterator[Cause]:
    if not group:
        yield required("spec.group")
    elif complaints := dns1123_subdomain_errors(group):
        yield invalid("spec.group", group, ",".join(complaints))
    elif "." not in group:
        yield invalid("spec.group", group, "should be a domain with at least one dot")


def _common(versions: list[JsonObject]) -> list[str]:
    """The fields that all versions have and agree in."""
    first = versions[0] if versions else {}
    return [
        key
        for key in _SHARED
        if first.get(key) and all(each.get(key) == first[key] for each in versions)
    ]


def _versions(versions: list[JsonObject]) -> Iterator[Cause]:
    common = _common(versions)
    for at, version in enumerate(versions):
        item_path = f"spec.versions[{at}]"
        yield from validate_name_spelling(version.get("name") or "", f"{item_path}.name")
        yield from _deprecation(version, f"{item_path}.deprecationWarning")
        own = {key: version[key] for key in _SHARED if key in version and key not in common}
        yield from _parts(own, item_path, {}, status=_has_status(version))
    names = [version.get("name") for version in versions]
    if len(set(names)) != len(names):
        yield _wrong_versions(versions, "must contain unique version names")
    if sum(1 for version in versions if version.get("storage")) != 1:
        text = "must have exactly one version marked as storage version"
        yield _wrong_versions(versions, text)


def _wrong_versions(versions: list[JsonObject], text: str) -> Cause:
    """All versions are shown, as Go prints the structures they are in there."""
    listed = ",".join(_spelt(version, _common(versions)) for version in versions)
    shown = f"[{listed}]" if versions else "null"
    return Cause(INVALID, f"Invalid value: {shown}: {text}", "spec.versions")


def _spelt(version: JsonObject, common: Sequence[str]) -> str:
    fields = {
        "Name": version.get("name") or "",
        "Served": bool(version.get("served")),
        "Storage": bool(version.get("storage")),
        "Deprecated": bool(version.get("deprecated")),
        "DeprecationWarning": version.get("deprecationWarning"),
        **{
            key[0].upper() + key[1:]: None if key in common else version.get(key) for key in _SHARED
        },
    }
    members = (f"{encoded(name)}:{encoded(value)}" for name, value in fields.items())
    return f"{{{','.join(members)}}}"


def _deprecation(version: JsonObject, path: str) -> Iterator[Cause]:
    text = version.get("deprecationWarning")
    if text is None:
        return
    if not version.get("deprecated"):
        yield invalid(path, text, "can only be set for deprecated versions")
        return
    if len(text.encode()) > WARNING_LIMIT:
        yield invalid(path, text, f"must be <= {WARNING_LIMIT} characters long")
    if not text:
        yield invalid(path, text, "must not be an empty string")
    odd = next((at for at, char in enumerate(text) if not char.isprintable()), None)
    if odd is not None:
        why = "must only contain printable UTF-8 characters; non-printable character found at"
        yield invalid(path, text, f"{why} index {odd}")


def _has_status(version: JsonObject) -> bool:
    return (version.get("subresources") or {}).get("status") is not None


def _parts(
    parts: Mapping[str, Any], field_path: str, names: Mapping[str, str], *, status: bool
) -> Iterator[Cause]:
    """What is wrong with the fields of a version, or with those that all versions share."""
    schema = (parts.get("schema") or {}).get("openAPIV3Schema")
    if schema is not None:
        path = f"{field_path}.{names.get('schema', 'schema')}.openAPIV3Schema"
        yield from validate_schema(schema, path, status=status)
    if "subresources" in parts:
        yield from validate_scale_subresource(parts["subresources"], f"{field_path}.subresources")
    for at, column in enumerate(parts.get("additionalPrinterColumns") or ()):
        yield from validate_printer_column(column, f"{field_path}.additionalPrinterColumns[{at}]")
    if selectable := parts.get("selectableFields"):
        selectable_path = f"{field_path}.selectableFields"
        if schema is not None:
            yield from validate_selectable_fields(selectable, schema, selectable_path)
        else:
            # Said of one version while the schema is said of all, or the other way round.
            yield invalid(selectable_path, "", _APART if names else _SHARED_ONLY)


def _unchanged(crd: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What an update may not change, some of it only once the kind is served."""
    if live is None:
        return
    fixed = [("group",), ("names", "plural")]
    conditions = live["status"].get("conditions") or ()
    if any(each["type"] == "Established" and each["status"] == "True" for each in conditions):
        fixed = [("scope",), ("names", "kind"), *fixed]
        yield from validate_bundle(crd, live)
    for path in fixed:
        new, old = _at(crd["spec"], path), _at(live["spec"], path)
        if new != old:
            yield invalid(f"spec.{'.'.join(path)}", new, "field is immutable")


def _at(spec: JsonObject, path: tuple[str, ...]) -> Any:
    found: Any = spec
    for name in path:
        found = found.get(name) or ""
    return found


def _stored(crd: JsonObject) -> Iterator[Cause]:
    field_path = "status.storedVersions"
    stored = crd["status"].get("storedVersions") or []
    if not stored:
        yield invalid(field_path, None, "must have at least one stored version")
        return
    versions = {v.get("name"): v for v in crd["spec"].get("versions") or ()}
    for name, version in versions.items():
        if version.get("storage") and name not in stored:
            yield invalid(field_path, stored, f"must have the storage version {name}")
    for at, name in enumerate(stored):
        if name not in versions:
            text = (
                f"missing from spec.versions; {name} was previously a storage version, and must "
                "remain in spec.versions until a storage migration ensures no data remains "
                f"persisted in {name} and removes {name} from status.storedVersions"
            )
            yield invalid(f"{field_path}[{at}]", name, text)
