"""ValidateNamespace: its finalizers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from quintant.cluster.apiserver.meta.field_errors import invalid_each
from quintant.cluster.apiserver.meta.names import qualified_name_errors
from quintant.cluster.apiserver.meta.objectmeta import validate_finalizer_name
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.core.errors import Cause


def validate_namespace(namespace: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with a new Namespace; what holds it, an update cannot change."""
    for finalizer in (namespace.get("spec") or {}).get("finalizers") or () if live is None else ():
        yield from invalid_each("spec.finalizers", finalizer, qualified_name_errors(finalizer))
        yield from validate_finalizer_name("spec.finalizers", finalizer)


NAMESPACES: dict[str, Callable[[JsonObject, JsonObject | None], Iterator[Cause]]] = {
    "namespaces": validate_namespace,
}
