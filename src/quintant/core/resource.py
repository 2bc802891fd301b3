"""Where a kind lives on the API server: group, version, plural, scope, and its paths.

`@resource` gives a class its identity; `@projection(Pod)` gives a narrower class the identity of
the wider one; `Metadata[Pod]` has it by construction. `resource_of` is the only way to ask.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar, get_args, get_origin

import msgspec
from msgspec import Struct

from quintant.core.errors import BadRequest, ConfigError, Status
from quintant.core.object import Custom, Metadata, Model, Object
from quintant.core.resource_names import check_resource_names, is_kubernetes_group

C = TypeVar("C", bound=type[Object])


def _same(obj: Any) -> Any:
    return obj


# What may stand between two slashes as it is; every name that the API server accepts does.
_SEGMENT = re.compile(r"(?!\.\.?$)[\w.:~@!$&'()*+,;=-]+", re.ASCII)


class Resource(Struct, frozen=True):
    """The identity of a kind on the API server."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True
    status: bool = False
    metadata_only: bool = False

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def full_name(self) -> str:
        """`deployments.apps`, or `pods` for the core group."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def path(self, namespace: str = "", name: str = "", sub: str = "") -> str:
        """The URL path of the collection, an object, or one of its subresources.

        BadRequest for a name that would lead elsewhere: names often come from users.
        """
        for part in (namespace, name):
            if part and _SEGMENT.fullmatch(part) is None:
                raise _misnamed(self.kind, part)
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        if self.namespaced and namespace:
            root = f"{root}/namespaces/{namespace}"
        path = f"{root}/{self.plural}/{name}" if name else f"{root}/{self.plural}"
        return f"{path}/{sub}" if sub else path


class CelRule(Struct, frozen=True):
    """A CEL validation rule and the text shown when it fails (see `schema.cel`)."""

    rule: str
    message: str = ""
    reason: str = ""
    path: str = ""


class Scale(Struct, frozen=True):
    """The paths of a scale subresource."""

    replicas: str = ".spec.replicas"
    status_replicas: str = ".status.replicas"
    selector: str = ""


class Column(Struct, frozen=True):
    """A printer column; `kind` is OpenAPI's type, guessed from the schema when empty."""

    path: str
    kind: str = ""
    priority: int = 0
    description: str = ""
    format: str = ""


class ConversionWebhook(Struct, frozen=True):
    """The service whose webhook converts between the versions of a kind."""

    service: str
    namespace: str
    path: str = "/convert"
    port: int = 443


class Definition(Struct, frozen=True):
    """What a CustomResourceDefinition says beyond identity and schema."""

    short: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    columns: Mapping[str, Column] = msgspec.field(default_factory=dict)
    rules: tuple[CelRule, ...] = ()
    scale: Scale | None = None
    singular: str = ""
    served: bool = True
    storage: bool = True
    deprecated: str = ""
    selectable: tuple[str, ...] = ()
    conversion: ConversionWebhook | None = None
    external: bool = False
    """Another program defines the kind: no definition of ours is ever printed or installed."""


def resource(
    *,
    group: str,
    version: str,
    kind: str = "",
    plural: str = "",
    namespaced: bool = True,
    status: bool = False,
    short: Sequence[str] = (),
    categories: Sequence[str] = (),
    columns: Mapping[str, str | Column] | None = None,
    rules: Sequence[CelRule] = (),
    scale: Scale | None = None,
    singular: str = "",
    served: bool = True,
    storage: bool = True,
    deprecated: str = "",
    selectable: Sequence[str] = (),
    conversion: ConversionWebhook | None = None,
    external: bool = False,
) -> Callable[[C], C]:
    """Give a kind its place on the API server, and a custom kind its definition.

    `status=True` declares the status subresource; without it `set_status` has nowhere to write.
    `columns` are what `kubectl get` shows, by title; `selectable` are paths that field selectors
    may use. Of several versions of one kind exactly one has `storage=True`; `deprecated` is the
    warning sent to clients that use the version.

    `external=True` is for kinds of others, such as cert-manager's: they are used and watched, and
    their definition is left alone. Kinds in groups of Kubernetes are external anyhow.
    """

    def decorate(cls: C) -> C:
        name = kind or cls.__name__
        others = external or is_kubernetes_group(group)
        plurals = plural or guess_plural(name)
        check_resource_names(
            cls.__name__, group=group, version=version, kind=name, plural=plurals,
            defined=issubclass(cls, Custom) and not others,
        )  # fmt: skip
        _set(cls, "__resource__", Resource(
            group, version, name, plurals, namespaced, status
        ))  # fmt: skip
        if external or issubclass(cls, Custom):
            _set(cls, "__definition__", Definition(
                tuple(short), tuple(categories), _columns(columns or {}), tuple(rules), scale,
                singular or name.lower(), served, storage, deprecated,
                tuple(selectable), conversion, others,
            ))  # fmt: skip
        return cls

    return decorate


class Transform(Struct, frozen=True):
    """How objects of a kind become a view: read as `wire`, and made smaller by `make`."""

    wire: type[Model]
    make: Callable[[Any], Any]


def projection(
    of: type[Object], *, wire: type[Object] | None = None, transform: Callable[[Any], Any] = _same
) -> Callable[[C], C]:
    """Declare a narrower view of a kind: same objects on the server, fewer fields here.

    Where what is to be kept is deep inside, or one word of a long list, `wire` is the type that is
    read and `transform` makes the view of it, before any code holds it; it is pure. Such a view is
    never written.
    """

    def decorate(cls: C) -> C:
        _set(cls, "__resource__", resource_of(of))
        if wire is not None:
            _set(cls, "__transform__", Transform(wire, transform))
        return cls

    return decorate


@cache
def transform_of(kind: type[Model]) -> Transform | None:
    """How a view is made of what the server sends; None where it is read as it is."""
    return vars(kind).get("__transform__") if isinstance(kind, type) else None


@cache
def resource_of(kind: type[Object]) -> Resource:
    """The identity of a kind; ConfigError when the class was never given one."""
    if get_origin(kind) is Metadata:
        return msgspec.structs.replace(resource_of(get_args(kind)[0]), metadata_only=True)
    if kind is Metadata:
        raise ConfigError(
            "Metadata alone is not a kind",
            because="an object read as Metadata[Pod] does not remember that it is a Pod",
            hint="read with Metadata[Pod], and write with the kind itself: Pod(metadata=...)",
        )
    found: Resource | None = vars(kind).get("__resource__") if isinstance(kind, type) else None
    if found is None:
        name = getattr(kind, "__name__", repr(kind))
        raise ConfigError(
            f"{name} is not a kind",
            because="it has no group, version and plural",
            hint=f"decorate it with @resource(...), or @projection(...) for a view: class {name}",
        )
    return found


def is_custom_kind(kind: type[Object]) -> bool:
    """Whether a class is a custom kind of our own: its type is the whole truth, not a view."""
    found: Definition | None = vars(kind).get("__definition__")
    return found is not None and not found.external


def is_external_kind(kind: type[Object]) -> bool:
    """Whether a class is declared like a custom kind whose definition another program has."""
    found: Definition | None = vars(kind).get("__definition__")
    return found is not None and found.external


def definition_of(kind: type[Object]) -> Definition:
    """What the CRD of a custom kind says; ConfigError for any other class."""
    found: Definition | None = vars(kind).get("__definition__")
    if found is None:
        raise ConfigError(
            f"{kind.__name__} has no CustomResourceDefinition",
            because="it is not a Custom[Spec, Status] decorated with @resource",
            hint=f"class {kind.__name__}(Custom[Spec, Status]) under @resource(group=..., ...)",
        )
    return found


def _misnamed(kind: str, name: str) -> BadRequest:
    message = f"{name!r} cannot be the name or namespace of a {kind}"
    return BadRequest(Status(status="Failure", message=message, reason="BadRequest", code=400))


def _set(cls: Any, name: str, value: object) -> None:
    setattr(cls, name, value)


def _columns(columns: Mapping[str, str | Column]) -> dict[str, Column]:
    return {
        name: Column(given) if isinstance(given, str) else given for name, given in columns.items()
    }


def guess_plural(kind: str) -> str:
    """The plural of a kind, as English has it."""
    word = kind.lower()
    if word.endswith(("s", "x", "ch", "sh")):
        return f"{word}es"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}s"
