"""Who may connect a tunnel, and under which names: a file that is read again when it changes.

    tokens:
    - {sha256: 9f86d0…, subject: team-a, names: ["team-a-*", hello], maxSessions: 16}

Written as JSON. Only hashes are kept, on disk and in memory; comparing takes the same time whether
a token is nearly right or not at all.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

SESSIONS = 1024
"""Connections of one subject unless its entry says otherwise."""


class TokenEntry(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """One token, by its hash, and what it allows."""

    sha256: str
    subject: str
    names: Annotated[tuple[str, ...], Meta(min_length=1)]
    """Globs. Nobody gets every name by leaving them out: `["*"]` has to be written."""
    max_sessions: int = SESSIONS


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    tokens: tuple[TokenEntry, ...]


@dataclass(frozen=True, slots=True)
class Principal:
    """Who connected."""

    subject: str = ""
    names: tuple[str, ...] = ()
    max_sessions: int = SESSIONS
    token: str = ""
    """The hash of its token."""

    def may(self, app: str) -> bool:
        """Whether it may be reached under a name."""
        return any(fnmatchcase(app, pattern) for pattern in self.names)


ANYBODY = Principal(names=("*",))
"""Where no tokens are asked for: the group alone is the claim."""


def digest(token: str) -> str:
    """What is written to the file for a token."""
    return sha256(token.encode()).hexdigest()


def find(entries: Iterable[TokenEntry], given: str) -> Principal | None:
    """Whose token has this hash. Looks at every entry, whichever fits."""
    found = None
    for entry in entries:
        if hmac.compare_digest(entry.sha256.lower().encode(), given.encode()):
            found = Principal(entry.subject, entry.names, entry.max_sessions, given)
    return found


def parse(raw: bytes) -> tuple[TokenEntry, ...]:
    """The entries of a file; ValueError says what is wrong, and never shows what it holds."""
    try:
        return msgspec.json.decode(raw, type=_File).tokens
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(str(error)) from None


class TokenList:
    """The entries as they are now."""

    def __init__(self, entries: tuple[TokenEntry, ...]) -> None:
        self._entries = entries
        self.version: int = 1
        """Grows whenever the entries change."""

    def replace(self, entries: tuple[TokenEntry, ...]) -> None:
        """Have other entries from now on."""
        self._entries = entries
        self.version += 1

    def reload(self) -> str:
        """Look whether there are others; what is wrong with them, if anything is."""
        return ""

    def find(self, token: str) -> Principal | None:
        """Whose token that is."""
        return find(self._entries, digest(token))

    def renew(self, who: Principal) -> Principal | None:
        """What somebody who is in may do by now; None if the token is not known any more."""
        return find(self._entries, who.token)


class TunnelTokens(TokenList):
    """The file as it is now; a version that cannot be read leaves the last good one in force."""

    def __init__(self, path: Path) -> None:
        self._path, self._stamp_loaded = path, _stamp(path)
        super().__init__(parse(path.read_bytes()))

    def reload(self) -> str:
        """Read the file if it changed; what is wrong with it, if anything is."""
        try:
            stamp = _stamp(self._path)
            if stamp == self._stamp_loaded:
                return ""
            self._stamp_loaded = stamp
            self.replace(parse(self._path.read_bytes()))
        except (OSError, ValueError) as error:
            return str(error)
        return ""


def _stamp(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_mtime_ns, found.st_size, found.st_ino
