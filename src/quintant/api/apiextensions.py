"""CustomResourceDefinitions, as far as a client reads them.

`runtime.crd` writes definitions as plain data; this is how they are found, compared and waited
for. Schemas stay opaque. The server writes `null` for lists it has not filled yet.
"""

from __future__ import annotations

from quintant.api.meta import Condition
from quintant.core.object import Model, Object, Opaque
from quintant.core.resource import resource


class CustomResourceDefinitionNames(Model):
    """What a kind is called."""

    plural: str = ""
    kind: str = ""
    singular: str = ""
    list_kind: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()


class CustomResourceDefinitionVersion(Model):
    """One version of a kind."""

    name: str
    served: bool
    storage: bool
    schema: Opaque | None = None
    subresources: Opaque | None = None
    additional_printer_columns: tuple[Opaque, ...] = ()
    selectable_fields: tuple[Opaque, ...] = ()
    deprecated: bool = False
    deprecation_warning: str | None = None


class CustomResourceDefinitionSpec(Model):
    """A kind's group, names, scope and versions."""

    group: str
    names: CustomResourceDefinitionNames
    scope: str
    versions: tuple[CustomResourceDefinitionVersion, ...]
    conversion: Opaque | None = None
    preserve_unknown_fields: bool = False


class CustomResourceDefinitionStatus(Model):
    """Whether a kind is served, under which names, and which versions are stored."""

    conditions: tuple[Condition, ...] | None = None
    accepted_names: CustomResourceDefinitionNames = CustomResourceDefinitionNames()
    stored_versions: tuple[str, ...] | None = None


@resource(group="apiextensions.k8s.io", version="v1", namespaced=False, status=True)
class CustomResourceDefinition(Object):
    """A kind of one's own."""

    spec: CustomResourceDefinitionSpec
    status: CustomResourceDefinitionStatus = CustomResourceDefinitionStatus()

    @property
    def established(self) -> bool:
        """Whether the server serves the kind."""
        conditions = self.status.conditions or ()
        return any(c.type == "Established" and c.status == "True" for c in conditions)
