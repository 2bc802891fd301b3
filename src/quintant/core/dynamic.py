"""Kinds without a class: `dynamic("batch/v1", "Job")`, as client-go's Unstructured.

A dynamic kind is a class like any other, made from what identifies it: whatever takes a kind takes
one. Its objects have typed metadata; each other top-level field is JSON that is carried as it is.
The same words give the same class, so that controllers share its cache.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

import msgspec

from quintant.core import codec
from quintant.core.errors import ConfigError
from quintant.core.object import Object, Opaque
from quintant.core.resource import guess_plural, resource, resource_of

FIELDS = ("spec", "status", "data")
"""The top-level fields that a dynamic kind has at least."""
# Every object has them, and they are looked after elsewhere.
_TAKEN = frozenset(("apiVersion", "kind", "metadata"))

U = TypeVar("U", bound="Unstructured")


class Unstructured(Object):
    """An object of a kind without a class; `at` looks into it."""

    spec: Opaque | None = None
    status: Opaque | None = None
    data: Opaque | None = None

    def at(self, field: str, *path: str | int, default: Any = None) -> Any:
        """What is at a path, as plain data: `job.at("spec", "template", "spec")`.

        The default where there is nothing. Each call decodes its field: keep what is used often.
        """
        held = getattr(self, field, None)
        value: Any = held.value if isinstance(held, Opaque) else None
        for step in path:
            try:
                value = value[step]
            except (LookupError, TypeError):
                return default
        return default if value is None else value

    @classmethod
    def of(cls: type[U], manifest: Mapping[str, Any]) -> U:
        """An object from plain data, such as a manifest; what this kind has no field for is lost.

        ConfigError if it is of another kind.
        """
        own = resource_of(cls)
        named = manifest.get("apiVersion", own.api_version), manifest.get("kind", own.kind)
        if named != (own.api_version, own.kind):
            raise ConfigError(
                f"a manifest of {named[0]} {named[1]} is no {own.api_version} {own.kind}",
                because="its apiVersion and kind say so",
                hint="make the class of its own kind: dynamic(apiVersion, kind)",
            )
        return codec.decode(cls, msgspec.json.encode(manifest))


def dynamic(
    api_version: str,
    kind: str,
    *,
    plural: str = "",
    namespaced: bool = True,
    fields: Sequence[str] = (),
) -> type[Unstructured]:
    """The class of a kind that the server serves, from `group/version` and the kind's name.

    `plural` is guessed as English has it, where it is not said; `client.dynamic` asks the server
    instead. `fields` are top-level fields beyond spec, status and data, such as "roleRef".
    """
    group, _, version = api_version.rpartition("/")
    named = tuple(sorted(set(fields).difference(FIELDS)))
    return _made(group, version, kind, plural or guess_plural(kind), namespaced, named)


@cache
def _made(
    group: str,
    version: str,
    kind: str,
    plural: str,
    namespaced: bool,
    fields: tuple[str, ...],
) -> type[Unstructured]:
    for name in fields:
        word = name.isidentifier() and name.isascii() and "_" not in name
        if name in _TAKEN or not word or hasattr(Unstructured, name):
            raise ConfigError(
                f"a dynamic {kind} cannot have the field {name!r}",
                because="a top-level field is one word, and is none that every object has",
                hint='name it as the API does: fields=["roleRef"]',
            )
    body: dict[str, Any] = dict.fromkeys(fields)
    body["__annotations__"] = dict.fromkeys(fields, "Opaque | None")
    body["__module__"], body["__doc__"] = __name__, f"A {kind} of {group or 'the core group'}."
    metaclass: Any = type(Unstructured)
    made: type[Unstructured] = metaclass(_identifier(kind), (Unstructured,), body)
    # A kind without a status subresource has the server say so, when one is written.
    give = resource(
        group=group, version=version, kind=kind, plural=plural, namespaced=namespaced, status=True
    )
    return give(made)


def _identifier(kind: str) -> str:
    return kind if kind.isidentifier() else "Unstructured"
