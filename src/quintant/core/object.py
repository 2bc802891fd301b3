"""The base of every wire type: frozen, keyword-only, camelCase on the wire.

A Model declares the fields we use; decoding drops the others. That is why a typed object is
never PUT back: what we do not model would be lost. An optional field's Python default means
"absent" and is not sent; API defaults live in annotations of the schema (`core.schema.markers`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    NamedTuple,
    TypeVar,
    dataclass_transform,
    get_args,
    get_origin,
)

import msgspec

from quintant.core.errors import error_text
from quintant.core.quantity import QuantityText, read_quantity

if TYPE_CHECKING:
    # mypy ignores dataclass_transform on a subclass of StructMeta, so checkers see this twin.
    @dataclass_transform(
        frozen_default=True, kw_only_default=True, field_specifiers=(msgspec.field,)
    )
    class ModelMeta(type):
        def __new__(
            mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], *, gc: bool = False
        ) -> ModelMeta: ...

    class Model(metaclass=ModelMeta):
        """A frozen value that travels as JSON."""

else:
    _OPTIONS = {
        "frozen": True,
        "kw_only": True,
        "omit_defaults": True,
        "rename": "camel",
        # A frozen tree holds no cycle, and a cache holds millions of its nodes: with the garbage
        # collector looking at each, an initial sync takes three times as long.
        "gc": False,
    }

    def _refuse_assignment(self, name, value):
        raise _frozen(self, name, "assign to")

    def _refuse_deletion(self, name):
        raise _frozen(self, name, "delete")

    class ModelMeta(msgspec.StructMeta):
        """Gives every Model the same options, so that subclasses need not repeat them."""

        def __new__(mcls, name, bases, namespace, **options):
            made = super().__new__(mcls, name, bases, namespace, **{**_OPTIONS, **options})
            made.__setattr__, made.__delattr__ = _refuse_assignment, _refuse_deletion
            return made

    class Model(msgspec.Struct, metaclass=ModelMeta):
        """A frozen value that travels as JSON."""


def _frozen(model: Model, name: str, verb: str) -> AttributeError:
    kind = type(model).__name__
    return AttributeError(
        error_text(
            f"cannot {verb} {name} of a {kind}",
            "objects are frozen: caches and other reconciles share them",
            f"changed = replace({kind.lower()}, {name}=...), from quintant import replace",
        )
    )


M = TypeVar("M", bound=Model)
K = TypeVar("K", bound="Object")
S = TypeVar("S")
St = TypeVar("St")


def replace(model: M, **changes: Any) -> M:
    """A copy of `model` with some fields changed."""
    return msgspec.structs.replace(model, **changes)  # type: ignore[type-var]


class Request(NamedTuple):
    """The key of an object: what queues hold and reconciles are about."""

    name: str
    namespace: str = ""

    @property
    def cluster(self) -> str:
        """The cluster that the object is in; empty at home, where the manager itself belongs."""
        return ""

    @property
    def local(self) -> Request:
        """The same key without its cluster: what caches and objects of that cluster know."""
        return self

    def in_cluster(self, name: str) -> Request:
        """The key of an object of this name in another cluster; of an empty name, at home."""
        return ClusterRequest(self.name, self.namespace, name) if name else self.local

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class ClusterRequest(Request):
    """A key in another cluster than home; it still unpacks into name and namespace.

    It is never equal to a key of the same name elsewhere. `Request.in_cluster` makes it.
    """

    # Keys at home have no third field: they stay as small and as fast as they were.
    _cluster: str
    _local: Request

    def __new__(cls, name: str, namespace: str, cluster: str) -> ClusterRequest:
        made: ClusterRequest = tuple.__new__(cls, (name, namespace))
        made._cluster, made._local = cluster, Request(name, namespace)
        return made

    @property
    def cluster(self) -> str:
        return self._cluster

    @property
    def local(self) -> Request:
        return self._local

    def __eq__(self, other: object) -> bool:
        ours = isinstance(other, ClusterRequest) and other._cluster == self._cluster
        return ours and tuple.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self._cluster, *self))

    def __str__(self) -> str:
        return f"{self._cluster}:{self._local}"

    def __repr__(self) -> str:
        return f"{self._local!r}.in_cluster({self._cluster!r})"

    def _replace(self, **changes: Any) -> ClusterRequest:
        return ClusterRequest(*self._local._replace(**changes), self._cluster)


class Opaque:
    """JSON that is carried and never looked into, such as a pod template.

    It is kept as compact bytes: every field survives, known to us or not.
    """

    __slots__ = ("raw",)

    def __init__(self, raw: bytes) -> None:
        self.raw: bytes = raw

    @classmethod
    def of(cls, value: Any) -> Opaque:
        """Wrap plain data (dicts, lists, Models)."""
        return cls(msgspec.json.encode(value, enc_hook=encode_hook))

    @property
    def value(self) -> Any:
        """A fresh, mutable copy as plain data."""
        return msgspec.json.decode(self.raw)

    def to(self, kind: type[M]) -> M:
        """The same as a Model, which has what is known to it: `template.to(PodTemplateSpec)`.

        Undecodable if it does not fit.
        """
        # The codec is made of what stands here.
        from quintant.core.codec import decode_model

        return decode_model(kind, self.raw)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Opaque) and self.raw == other.raw

    def __hash__(self) -> int:
        return hash(self.raw)

    def __repr__(self) -> str:
        return f"Opaque({len(self.raw)} bytes)"


def encode_hook(value: Any) -> Any:
    """Teach msgspec to write an Opaque."""
    if isinstance(value, Opaque):
        return msgspec.Raw(value.raw)
    raise NotImplementedError(f"cannot encode {type(value).__name__}")


def decode_hook(kind: type, value: Any) -> Any:
    """Teach msgspec to read a Quantity and an Opaque; one that names a type is given it."""
    if kind is QuantityText:
        return read_quantity(value)
    sort = get_origin(kind) or kind
    if isinstance(sort, type) and issubclass(sort, Opaque):
        return sort(msgspec.json.encode(value), *get_args(kind))
    raise NotImplementedError(f"cannot decode {kind.__name__}")


class OwnerReference(Model):
    """Who an object belongs to; the garbage collector follows it."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class ObjectMeta(Model):
    """The metadata every object has, without managedFields: caches keep what they need of them."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    owner_references: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()

    @staticmethod
    def like(other: Object, **changes: Any) -> ObjectMeta:
        """Metadata with the name and namespace of another object, for its namesake child."""
        return ObjectMeta(
            **{"name": other.metadata.name, "namespace": other.metadata.namespace, **changes}
        )


class Object(Model):
    """What every kind has in common."""

    metadata: ObjectMeta = ObjectMeta()

    @property
    def key(self) -> Request:
        """Name and namespace."""
        # A NamedTuple's own constructor is a function in Python, and this is asked for everywhere.
        return tuple.__new__(Request, (self.metadata.name, self.metadata.namespace))

    @property
    def deleting(self) -> bool:
        """Whether its deletion was requested and finalizers hold it."""
        return self.metadata.deletion_timestamp is not None


class Custom(Object, Generic[S, St]):
    """A kind of our own: subclass `Custom[Spec, Status]` and decorate it with `@resource`."""

    spec: S
    status: St | None = None


class Metadata(Object, Generic[K]):
    """`Metadata[Pod]` is a pod's metadata alone: the server sends, and we hold, nothing else."""
