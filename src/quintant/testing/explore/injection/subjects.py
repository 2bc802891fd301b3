"""Whom a request is about: the table and key of an object, and the request in words."""

from __future__ import annotations

from quintant.client.request_info import ResourcePath, verb_of
from quintant.client.transport import ApiRequest


def table_of(at: ResourcePath) -> str:
    """The table of the store that a resource is kept in."""
    return f"{at.plural}.{at.group}" if at.group else at.plural


def subject_of(at: ResourcePath) -> str:
    """The table and key of an object."""
    return f"{table_of(at)} {_key(at)}"


def write_text(call: ApiRequest, at: ResourcePath) -> str:
    """A write as a person reads it; never what is in it."""
    plural = f"{table_of(at)}/{at.sub}" if at.sub else table_of(at)
    return f"{verb_of(call)} {plural} {_key(at)}".rstrip(" /")


def _key(at: ResourcePath) -> str:
    return f"{at.namespace}/{at.name}" if at.namespace else at.name
