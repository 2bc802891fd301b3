"""The grammar of names, keys and label values, and the complaints about what does not follow it."""

from __future__ import annotations

import re

SUBDOMAIN_LIMIT = 253
LABEL_LIMIT = 63

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
_KEY_TEXT = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)


def subdomain_complaint(text: str) -> str:
    """Why a text is no DNS subdomain, as most objects' names have to be; empty if it is one."""
    if len(text) > SUBDOMAIN_LIMIT:
        return f"must be no more than {SUBDOMAIN_LIMIT} characters"
    return "" if _SUBDOMAIN.fullmatch(text) else _SUBDOMAIN_TEXT


def word_complaint(text: str) -> str:
    """Why a text is no DNS label, as a namespace's name has to be; empty if it is one."""
    if len(text) > LABEL_LIMIT:
        return f"must be no more than {LABEL_LIMIT} bytes"
    if _LABEL.fullmatch(text):
        return ""
    return "must not contain dots" if _SUBDOMAIN.fullmatch(text) else _WORD_TEXT


def identifier_complaint(text: str) -> str:
    """Why a text is no DNS label that begins with a letter; empty if it is one."""
    if len(text) > LABEL_LIMIT:
        return f"must be no more than {LABEL_LIMIT} bytes"
    return "" if _IDENTIFIER.fullmatch(text) else _IDENTIFIER_TEXT


def segment_complaint(text: str) -> str:
    """Why a text is no segment of a path, as a role's name has to be; empty if it is one."""
    if text in (".", ".."):
        return f"may not be '{text}'"
    found = next((mark for mark in "/%" if mark in text), "")
    return f"may not contain '{found}'" if found else ""


def key_complaint(key: str) -> str:
    """Why a text is no key of labels or annotations: a name, perhaps with a domain in front."""
    domain, slash, name = key.rpartition("/")
    if slash and (complaint := subdomain_complaint(domain)):
        return f"prefix part {complaint}"
    if len(name) > LABEL_LIMIT:
        return f"name part must be no more than {LABEL_LIMIT} bytes"
    return "" if _NAME.fullmatch(name) else _KEY_TEXT


def label_complaint(value: object) -> str:
    """Why something is no value of a label; empty if it is one."""
    if not isinstance(value, str):
        return "must be a string"
    if len(value) > LABEL_LIMIT:
        return f"must be no more than {LABEL_LIMIT} bytes"
    return "" if not value or _NAME.fullmatch(value) else _LABEL_TEXT
