"""IsDNS1123Label, IsQualifiedName: the grammar of names, keys and label values, and its errors.

A text is told everything that is wrong with it at once; one that is right, nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache

SUBDOMAIN_LIMIT = 253
LABEL_LIMIT = 63
KEY_LIMIT = SUBDOMAIN_LIMIT + 1 + LABEL_LIMIT
RECENT = 1024
"""Keys whose grammar is known: the same few are on every object."""

_WORD = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = re.compile(rf"{_WORD}(\.{_WORD})*")
_LABEL = re.compile(_WORD)
_IDENTIFIER = re.compile("[a-z]([-a-z0-9]*[a-z0-9])?")
_NAME = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_WILDCARD_TEXT = (
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which "
    "must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric "
    "character (e.g. '*.example.com', regex used for validation is "
    "'\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_WORD_TEXT = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
_IDENTIFIER_TEXT = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
)
_LABEL_TEXT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
    "or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_NAME_TEXT = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_KEY_TEXT = (
    f"a qualified name {_NAME_TEXT} with an optional DNS subdomain prefix and '/' "
    "(e.g. 'example.com/MyName')"
)


def dns1123_subdomain_errors(text: str, unit: str = "characters") -> list[str]:
    """Why a text is no DNS subdomain, as most objects' names have to be."""
    if len(text) <= SUBDOMAIN_LIMIT and _SUBDOMAIN.fullmatch(text):
        return []  # as most are
    return [
        *_length(text, SUBDOMAIN_LIMIT, unit),
        *([] if _SUBDOMAIN.fullmatch(text) else [_SUBDOMAIN_TEXT]),
    ]


def wildcard_dns1123_subdomain_errors(text: str) -> list[str]:
    """Why a text is no DNS subdomain below which everything is meant."""
    found = _length(text, SUBDOMAIN_LIMIT, "characters")
    star, domain = text[:2], text[2:]
    good = star == "*." and _SUBDOMAIN.fullmatch(domain)
    return found if good else [*found, _WILDCARD_TEXT]


def dns1123_label_errors(text: str) -> list[str]:
    """Why a text is no DNS label, as a namespace's name has to be."""
    long = _length(text, LABEL_LIMIT, "characters")
    if _LABEL.fullmatch(text):
        return long
    dotted = _SUBDOMAIN.fullmatch(text) is not None
    return [*long, "must not contain dots" if dotted else _WORD_TEXT]


def dns1035_label_errors(text: str) -> list[str]:
    """Why a text is no DNS label that begins with a letter."""
    long = _length(text, LABEL_LIMIT, "characters")
    return long if _IDENTIFIER.fullmatch(text) else [*long, _IDENTIFIER_TEXT]


def path_segment_errors(text: str) -> list[str]:
    """Why a text is no segment of a path, as a role's name has to be."""
    if text in (".", ".."):
        return [f"may not be '{text}'"]
    return [f"may not contain '{mark}'" for mark in "/%" if mark in text]


def qualified_name_errors(key: str) -> list[str]:
    """Why a text is no key of labels or annotations: a name, perhaps with a domain in front."""
    if len(key) <= KEY_LIMIT and _is_qualified(key):
        return []  # as most are
    return _qualified_name_errors(key)


@lru_cache(RECENT)
def _is_qualified(key: str) -> bool:
    return not _qualified_name_errors(key)


def _qualified_name_errors(key: str) -> list[str]:
    domain, slash, name = key.rpartition("/")
    if "/" in domain:
        return [_KEY_TEXT]
    found = [f"prefix part {complaint}" for complaint in _domain(domain)] if slash else []
    if not name:
        found.append("name part must be non-empty")
    found += [f"name part {complaint}" for complaint in _length(name, LABEL_LIMIT)]
    return found if _NAME.fullmatch(name) else [*found, f"name part {_NAME_TEXT}"]


def label_value_errors(value: object) -> list[str]:
    """Why something is no value of a label."""
    if not isinstance(value, str):
        return ["must be a string"]
    long = _length(value, LABEL_LIMIT)
    return long if not value or _NAME.fullmatch(value) else [*long, _LABEL_TEXT]


def _domain(text: str) -> list[str]:
    return dns1123_subdomain_errors(text, "bytes") if text else ["must be non-empty"]


def _length(text: str, limit: int, unit: str = "bytes") -> list[str]:
    long = len(text) > limit or (not text.isascii() and len(text.encode()) > limit)
    return [f"must be no more than {limit} {unit}"] if long else []
