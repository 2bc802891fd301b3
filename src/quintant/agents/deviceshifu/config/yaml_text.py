"""YAML in which every scalar is text: `on` is a name, 0x10 and false stay what was written. Pure.

What a user leaves empty, or writes as null, is None.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quintant.wire.foreign import MalformedInput, decode_yaml

_NULLS = ("", "~", "null", "Null", "NULL")


class SectionError(Exception):
    """A section is not what it should be; the text says what is wrong."""


def load_text(text: str) -> Any:
    """The document in a text; SectionError if there is none."""
    try:
        return _plain(decode_yaml(text, scalars_are_text=True))
    except MalformedInput as error:
        raise SectionError(str(error)) from None


def mapping(value: Any, what: str) -> Mapping[str, Any]:
    """A mapping, empty if there is nothing; SectionError if it is something else."""
    value = _plain(value)
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise SectionError(f"{what} is no mapping of names")
    return value


def scalar(value: Any, what: str) -> str | None:
    """A text, None if there is nothing; SectionError if it is a list or a mapping."""
    value = _plain(value)
    if value is None or isinstance(value, str):
        return value
    raise SectionError(f"{what} is no single value")


def _plain(value: Any) -> Any:
    return None if isinstance(value, str) and value in _NULLS else value
