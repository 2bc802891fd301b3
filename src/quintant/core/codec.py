"""Bytes to typed objects and back: the only module that knows msgspec's decoders.

Reading is lenient: patterns, ranges and literals of a type describe what the server should accept,
not what it may have stored, so they are not enforced on what comes back (`without_constraints`),
and a null that does not fit its field means that the field is absent. Writing puts apiVersion and
kind in front of the object, in the byte form a watch or an apply needs.
"""

from __future__ import annotations

import inspect
import types
import typing
from functools import cache, reduce
from operator import or_
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin

import msgspec
from msgspec.structs import replace

from quintant.core import nesting
from quintant.core.errors import ObjectIdentity, Undecodable
from quintant.core.object import K, M, Model, Object, ObjectMeta, decode_hook, encode_hook
from quintant.core.quantity import Quantity, QuantityText
from quintant.core.resource import resource_of, transform_of

# What msgspec raises for bytes that are not JSON, not text, not of the type, or nested too deeply.
BROKEN = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

METADATA_LEVELS = 8
"""Of metadata, what is read of an object that is too deep: more than any of its fields has, but for
what managers own of it, which is as deep as the object."""
TOO_DEEP = "it is nested too deep to be read"

T = TypeVar("T")
_DECLARED: dict[type, dict[str, Any]] = {}
# Types share most of what is below them, and a walk over it takes longer than making a decoder.
_RELAXED: set[type] = set()


class ListMeta(Model):
    """The metadata of a list answer."""

    resource_version: str = ""
    continue_token: str = msgspec.field(default="", name="continue")
    remaining_item_count: int | None = None


class Page(Model):
    """One page of a list, its items still undecoded; some servers write null for none."""

    metadata: ListMeta = ListMeta()
    items: tuple[msgspec.Raw, ...] | None


class WatchLine(Model):
    """One line of a watch stream, its object still undecoded."""

    type: str
    object: msgspec.Raw


class _Peek(Model):
    """What is read of an object that does not fit its type."""

    metadata: ObjectMeta = ObjectMeta()


class _Names(Model):
    """What is read of metadata that does not fit either."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""


class _Barest(Model):
    metadata: _Names = _Names()


_encoder = msgspec.json.Encoder(enc_hook=encode_hook)
_page = msgspec.json.Decoder(Page)
_line = msgspec.json.Decoder(WatchLine)
_peek = msgspec.json.Decoder(_Peek)
_barest = msgspec.json.Decoder(_Barest)


def encode(value: Any) -> bytes:
    """Compact JSON of a value, without apiVersion and kind."""
    return _encoder.encode(value)


def encode_object(obj: Object) -> bytes:
    """Compact JSON of an object as the server wants it: apiVersion and kind first."""
    body = _encoder.encode(obj)
    head = _head(type(obj))
    return head + (b"}" if body == b"{}" else b"," + body[1:])


def to_plain(obj: Object) -> dict[str, Any]:
    """The object as plain dicts and lists, with apiVersion and kind."""
    plain: dict[str, Any] = msgspec.json.decode(encode_object(obj))
    return plain


def from_plain(kind: type[K], plain: Any) -> K:
    """A typed object from plain dicts and lists."""
    return decode(kind, _encoder.encode(plain))


def decode(kind: type[K], raw: bytes | msgspec.Raw) -> K:
    """A typed object from JSON; Undecodable, with what identity can be read, if it does not fit."""
    try:
        if transform_of(kind) is None:
            obj: K = decoder(kind).decode(raw)
            return obj
        return transformed(kind, decoder(wire_type(kind)).decode(raw))
    except BROKEN as error:
        return cast(K, _decode_sparsely(kind, raw, identify(kind, raw), error))


def decode_model(model: type[M], raw: bytes) -> M:
    """A Model that is no object, from JSON; Undecodable if it does not fit."""
    try:
        return cast(M, decoder(model).decode(raw))
    except BROKEN as error:
        return cast(M, _decode_sparsely(model, raw, ObjectIdentity(model.__name__), error))


def decode_reply(raw: bytes, type: Any = Any) -> Any:
    """What the server answered besides objects; Undecodable if it does not fit.

    An API server is believed in size and depth, as far as the stack goes: schemas are deep, and
    lists are long. What others say is read with `quintant.wire.foreign`.
    """
    try:
        return msgspec.json.decode(raw, type=type)
    except BROKEN as error:
        raise Undecodable(ObjectIdentity("answer"), str(error)) from error


def decode_page(kind: type[Object], raw: bytes) -> Page:
    """A list answer, its items undecoded; Undecodable if it is no list (a Table is none)."""
    return decode_untyped_page(resource_of(kind).kind, raw)


def decode_untyped_page(kind: str, raw: bytes) -> Page:
    """The same, of a kind without a class."""
    try:
        return _decode_around(raw, "items", _page)
    except BROKEN as error:
        raise Undecodable(ObjectIdentity(f"{kind}List"), str(error)) from error


def decode_line(raw: bytes) -> WatchLine:
    """A watch line, its object undecoded."""
    return _decode_around(raw, "object", _line)


def decode_meta(raw: bytes | msgspec.Raw) -> ObjectMeta:
    """The metadata of any object, or of an odd one its names alone; raises one of BROKEN."""
    try:
        return _peek.decode(raw).metadata
    except RecursionError:
        return decode_meta(nesting.pruned(bytes(raw), METADATA_LEVELS))
    except BROKEN:
        names = _barest.decode(raw).metadata
    return ObjectMeta(
        name=names.name,
        namespace=names.namespace,
        uid=names.uid,
        resource_version=names.resource_version,
    )


def identify(kind: type[Object], raw: bytes | msgspec.Raw) -> ObjectIdentity:
    """As much identity as the bytes give away; empty strings for the rest."""
    name = resource_of(kind).kind
    try:
        meta = decode_meta(raw)
    except BROKEN:
        return ObjectIdentity(name)
    return ObjectIdentity(
        name, meta.name, meta.namespace, meta.uid, meta.resource_version, meta.generation
    )


@cache
def decoder(kind: type[T]) -> msgspec.json.Decoder[T]:
    """The lenient decoder of a type."""
    relax_constraints(kind)
    return msgspec.json.Decoder(kind, dec_hook=decode_hook)


def wire_type(kind: type[Model]) -> type[Model]:
    """What the bytes of a kind are read as: the kind itself, unless it is a view that is made."""
    made = transform_of(kind)
    return kind if made is None else made.wire


def transformed(kind: type[M], obj: Any) -> M:
    """The object of a kind that was read as its `wire_type`; raises one of BROKEN if it cannot."""
    made = transform_of(kind)
    if made is None:
        return obj  # type: ignore[no-any-return]
    try:
        return made.make(obj)  # type: ignore[no-any-return]
    except (ValueError, TypeError, LookupError) as error:
        raise msgspec.ValidationError(f"no view could be made of it: {error}") from error


def declared_hints(model: type) -> dict[str, Any]:
    """The annotations of a Model's own fields as its author wrote them, constraints included."""
    if model not in _DECLARED:
        hints = typing.get_type_hints(model, include_extras=True)
        _DECLARED[model] = {name: hints[name] for name in _own_fields(model)}
    return _DECLARED[model]


def relax_constraints(hint: Any) -> None:
    """Make msgspec read a type, and every type below it, without its constraints.

    msgspec collects a Struct's field types from `__annotations__` when its first decoder is made;
    until then they may be replaced. What the author wrote stays available through `declared_hints`.
    """
    hint = _unnamed(hint)
    for arg in get_args(hint):
        relax_constraints(arg)
    model = get_origin(hint) or hint
    if isinstance(model, type) and issubclass(model, msgspec.Struct) and model not in _RELAXED:
        _RELAXED.add(model)
        _relax_fields(model)


def _relax_fields(model: type) -> None:
    for parent in (*model.__bases__, *vars(model).get("__orig_bases__", ())):
        relax_constraints(parent)
    if "__annotations__" not in vars(model):
        return
    fields = declared_hints(model)
    model.__annotations__ = {
        **inspect.get_annotations(model),
        **{name: without_constraints(hint) for name, hint in fields.items()},
    }
    for hint in fields.values():
        relax_constraints(hint)


def without_constraints(hint: Any) -> Any:
    """A type hint without constraints: what may be stored, not what should be."""
    if hint is Quantity:
        return QuantityText
    hint = _unnamed(hint)
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return without_constraints(args[0])
    if origin is Literal:
        return reduce(or_, {type(arg) for arg in args})
    if origin in (Union, types.UnionType):
        return reduce(or_, (without_constraints(arg) for arg in args))
    if args and origin is not None and origin is not typing.ClassVar:
        return origin[tuple(without_constraints(arg) for arg in args)]
    return hint


def _unnamed(hint: Any) -> Any:
    """What a NewType, or an alias made by the type statement of newer Pythons, stands for."""
    while (inner := getattr(hint, "__supertype__", getattr(hint, "__value__", None))) is not None:
        hint = inner
    return hint


def _own_fields(model: type) -> list[str]:
    fields = set(getattr(model, "__struct_fields__", ()))
    return [name for name in inspect.get_annotations(model) if name in fields]


def _decode_around(raw: bytes, name: str, around: msgspec.json.Decoder[M]) -> M:
    """What is around the objects of an answer, and these undecoded, however deep they are."""
    try:
        return around.decode(raw)
    except RecursionError:
        span = nesting.member_span(raw, name)
        if span is None:
            raise
    inner = raw[slice(*span)]
    held = b"[]" if inner.startswith(b"[") else b"{}"
    whole: Any = around.decode(raw[: span[0]] + held + raw[span[1] :])
    many = tuple(msgspec.Raw(each) for each in nesting.elements(inner))
    return cast(M, replace(whole, **{name: many if held == b"[]" else msgspec.Raw(inner)}))


def _decode_sparsely(
    kind: type[Model], raw: bytes | msgspec.Raw, identity: ObjectIdentity, why: Exception
) -> Model:
    # Go writes null for an empty list, and reads it as absent anywhere. Looked at only when the
    # plain way has failed: nulls inside Opaque fields must survive otherwise.
    try:
        present = _encoder.encode(_without_nulls(msgspec.json.decode(raw)))
        return transformed(kind, decoder(wire_type(kind)).decode(present))
    except BROKEN:
        deep = isinstance(why, RecursionError)
        raise Undecodable(identity, TOO_DEEP if deep else str(why)) from why


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(item) for name, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value


@cache
def _head(kind: type[Object]) -> bytes:
    resource = resource_of(kind)
    return b'{"apiVersion":"%s","kind":"%s"' % (
        resource.api_version.encode(),
        resource.kind.encode(),
    )
