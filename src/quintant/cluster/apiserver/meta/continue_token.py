"""EncodeContinue, DecodeContinue: where the next page of a list begins, as an opaque token."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from posixpath import normpath
from typing import Any

import msgspec

from quintant.cluster.apiserver.golang import json
from quintant.cluster.apiserver.golang.printing import unmarshalled
from quintant.cluster.apiserver.meta.status import bad_request

NOW = -1
"""The revision in a continue token that goes on with the present state."""
_VERSION = "meta.k8s.io/v1"
_TOKEN: Mapping[str, tuple[type[Any], str]] = {
    "v": (str, "string"),
    "rv": (int, "int64"),
    "start": (str, "string"),
}
_STRANGE = re.compile(r"[^A-Za-z0-9_-]")


class ContinueToken(msgspec.Struct):
    """The revision a list shows, and the key after which it goes on."""

    v: str
    rv: int
    start: str


def read_token(text: str) -> ContinueToken:
    """What a client hands back; 400 if it was not made here."""
    try:
        return _token(_unfolded(text))
    except ValueError as error:
        raise bad_request(f"invalid continue token: continue key is not valid: {error}") from None


def write_token(rv: int, start: str) -> str:
    """What a client is to hand back to go on at a key, at a revision."""
    raw = msgspec.json.encode(ContinueToken(_VERSION, rv, start))
    return urlsafe_b64encode(raw).decode().rstrip("=")


def _unfolded(text: str) -> bytes:
    strange = _STRANGE.search(text)
    if strange or len(text) % 4 == 1:
        at = strange.start() if strange else len(text) - 1
        raise ValueError(f"illegal base64 data at input byte {at}")
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _token(raw: bytes) -> ContinueToken:
    """ValueError if the token was not made here."""
    found = json.decode(raw)
    if not isinstance(found, dict):
        raise ValueError(unmarshalled(found, "value of type storage.continueToken"))
    for name, (wanted, sort) in _TOKEN.items():
        value = found.setdefault(name, wanted())
        if type(value) is not wanted:
            what = f"struct field continueToken.{name} of type {sort}"
            raise ValueError(unmarshalled(value, what))
    if found["v"] != _VERSION:
        raise ValueError(f"server does not recognize this encoded version {found['v']}")
    if not found["rv"]:
        raise ValueError(f"incorrect encoded start resourceVersion (version {_VERSION})")
    if not found["start"]:
        raise ValueError(f"encoded start key empty (version {_VERSION})")
    if normpath(f"/{found['start']}") != f"/{found['start']}":
        raise ValueError(found["start"])
    return ContinueToken(found["v"], found["rv"], found["start"])
