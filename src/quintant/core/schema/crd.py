"""CustomResourceDefinitions, generated from kinds: what `@resource` and the types say, and no more.

The result is plain data and depends on the classes alone, so a checked-in file can be compared with
it. Several versions of one kind make one definition.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import Any

from quintant.core.errors import ConfigError
from quintant.core.object import Object
from quintant.core.resource import (
    ConversionWebhook,
    Definition,
    Resource,
    Scale,
    definition_of,
    is_custom_kind,
    is_external_kind,
    resource_of,
)
from quintant.core.schema.columns import printer_column
from quintant.core.schema.constraints import with_rules
from quintant.core.schema.openapi import schema_of

Plain = dict[str, Any]
Kind = type[Object]


def crd(*kinds: Kind) -> Plain:
    """The CustomResourceDefinition of a kind; given several classes, they are its versions."""
    _check(kinds)
    first, definition = resource_of(kinds[0]), definition_of(_stored(kinds))
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": first.full_name},
        "spec": {
            "group": first.group,
            "names": _names(first, definition),
            "scope": "Namespaced" if first.namespaced else "Cluster",
            "versions": [_version(kind) for kind in kinds],
            **_conversion(definition.conversion),
        },
    }


def crds(module: ModuleType) -> list[Plain]:
    """The definitions of all custom kinds a module or its submodules define, sorted by name."""
    classes = (value for value in vars(module).values() if isinstance(value, type))
    return definitions(
        cls for cls in classes if f"{cls.__module__}.".startswith(f"{module.__name__}.")
    )


def definitions(kinds: Iterable[Kind]) -> list[Plain]:
    """One definition for each custom kind, all its versions in it, sorted by name.

    Built-in kinds, kinds of others and views have none of ours, and are passed over.
    """
    versions: dict[str, list[Kind]] = {}
    for kind in dict.fromkeys(kinds):
        if is_custom_kind(kind):
            versions.setdefault(resource_of(kind).full_name, []).append(kind)
    return [crd(*versions[name]) for name in sorted(versions)]


def _version(kind: Kind) -> Plain:
    resource, definition = resource_of(kind), definition_of(kind)
    schema = with_rules(schema_of(kind), definition.rules)
    columns = [printer_column(title, given, schema) for title, given in definition.columns.items()]
    selectable = [{"jsonPath": path} for path in definition.selectable]
    return {
        "name": resource.version,
        "served": definition.served,
        "storage": definition.storage,
        "schema": {"openAPIV3Schema": schema},
        **_given("subresources", _subresources(resource, definition.scale)),
        **_given("additionalPrinterColumns", columns),
        **_given("selectableFields", selectable),
        **_given("deprecated", bool(definition.deprecated)),
        **_given("deprecationWarning", definition.deprecated),
    }


def _names(resource: Resource, definition: Definition) -> Plain:
    return {
        "kind": resource.kind,
        "listKind": f"{resource.kind}List",
        "plural": resource.plural,
        "singular": definition.singular,
        **_given("shortNames", list(definition.short)),
        **_given("categories", list(definition.categories)),
    }


def _subresources(resource: Resource, scale: Scale | None) -> Plain:
    status: Plain = {"status": {}} if resource.status else {}
    if scale is None:
        return status
    paths = {
        "specReplicasPath": scale.replicas,
        "statusReplicasPath": scale.status_replicas,
        **_given("labelSelectorPath", scale.selector),
    }
    return status | {"scale": paths}


def _conversion(conversion: ConversionWebhook | None) -> Plain:
    if conversion is None:
        return {}
    service = {
        "name": conversion.service,
        "namespace": conversion.namespace,
        "path": conversion.path,
        "port": conversion.port,
    }
    webhook = {"clientConfig": {"service": service}, "conversionReviewVersions": ["v1"]}
    return {"conversion": {"strategy": "Webhook", "webhook": webhook}}


def _given(name: str, value: Any) -> Plain:
    return {name: value} if value else {}


def _stored(kinds: Sequence[Kind]) -> Kind:
    return next(kind for kind in kinds if definition_of(kind).storage)


def _check(kinds: Sequence[Kind]) -> None:
    for kind in filter(is_external_kind, kinds):
        raise ConfigError(
            f"cannot make the definition of {kind.__name__}",
            because=f"{resource_of(kind).full_name} is defined by others",
            hint="install theirs; leave out external=True if the kind is yours",
        )
    resources = [resource_of(kind) for kind in kinds]
    names = {(r.group, r.kind, r.plural, r.namespaced) for r in resources}
    if len(names) != 1:
        raise ConfigError(
            f"cannot define {' and '.join(kind.__name__ for kind in kinds)} together",
            because="versions of one kind share group, kind, plural and scope",
            hint="pass the versions of one kind; @resource(kind=...) names a class otherwise",
        )
    versions = [resource.version for resource in resources]
    stored = [r.version for r, k in zip(resources, kinds, strict=True) if definition_of(k).storage]
    if len(set(versions)) != len(versions) or len(stored) != 1:
        raise ConfigError(
            f"cannot define {resources[0].full_name} with versions {', '.join(versions)}",
            because=f"versions are distinct and one is stored, not {len(stored)}",
            hint="@resource(storage=False) on all versions but one",
        )
