"""url.ParseRequestURI, path.Join: URLs as Go reads and cleans them."""

from __future__ import annotations

import posixpath
import re
from urllib.parse import quote, unquote

from msgspec import Struct

from quintant.cluster.apiserver.golang.printing import quoted

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(.*)", re.DOTALL)
_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
# In a host only other characters than ASCII may be escaped.
_ASCII_ESCAPE = re.compile(r"%[0-7][0-9A-Fa-f]")
# Whatever is not ASCII, and all of ASCII but these.
_HOST = re.compile(r"[^\x00-\x20#/?@\\^`{|}\x7f]*")
_PORT = re.compile(r"(:[0-9]*)?")
_PATH_SAFE = "$&+,/:;=@~"
"""What Go leaves as it is in a path, beside letters, digits, `-`, `_` and `.`."""
_USER = re.compile(r"[A-Za-z0-9._:~!$&'()*+,;=%@-]*")


class BadUrl(ValueError):
    """A text is no URL that can be requested; it says why in Go's words."""


class Url(Struct, frozen=True):
    """The parts of a URL; a part that is absent is empty."""

    scheme: str = ""
    host: str = ""
    """With its port."""
    path: str = ""
    query: str = ""

    @property
    def hostname(self) -> str:
        """The host without port and brackets."""
        name = self.host.rpartition(":")[0] if _has_port(self.host) else self.host
        return name.removeprefix("[").removesuffix("]")

    @property
    def port(self) -> str:
        return self.host.rpartition(":")[2] if _has_port(self.host) else ""


def parse_request(text: str) -> Url:
    """An absolute URL or an absolute path; BadUrl for anything else."""
    try:
        return _parsed(text)
    except BadUrl as error:
        raise BadUrl(f"parse {quoted(text)}: {error}") from None


def clean_path(path: str) -> str:
    """An escaped path as client-go asks for it: absolute, with no empty or dotted segment."""
    return quote(posixpath.normpath("/" + unquote(path).lstrip("/")), safe=_PATH_SAFE)


def _parsed(text: str) -> Url:
    if not text:
        raise BadUrl("empty url")
    if any(ord(char) < 0x20 or char == "\x7f" for char in text):
        raise BadUrl("net/url: invalid control character in URL")
    if text == "*":
        return Url(path="*")
    found = _SCHEME.fullmatch(text)
    scheme, rest = (found[1].lower(), found[2]) if found else ("", text)
    rest, _, query = rest.partition("?")
    if not rest.startswith("/"):
        if scheme:
            return Url(scheme, query=query)
        raise BadUrl("invalid URI for request")
    if rest.startswith("//") and scheme:
        authority, slash, path = rest[2:].partition("/")
        return Url(scheme, _host(authority), _escaped(slash + path), query)
    return Url(scheme, path=_escaped(rest), query=query)


def _host(authority: str) -> str:
    user, at, host = authority.rpartition("@")
    if at and not _USER.fullmatch(user):
        raise BadUrl("net/url: invalid userinfo")
    end = host.rfind("]") if host.startswith("[") else host.rfind(":") - 1
    port = host[end + 1 :] if host.startswith("[") or ":" in host else ""
    if host.startswith("[") and end < 0:
        raise BadUrl("missing ']' in host")
    if not _PORT.fullmatch(port):
        raise BadUrl(f"invalid port {quoted(port)} after host")
    if not _HOST.fullmatch(host):
        odd = next(char for char in host if not _HOST.fullmatch(char))
        raise BadUrl(f"invalid character {quoted(odd)} in host name")
    if escape := _ASCII_ESCAPE.search(host):
        raise BadUrl(f"invalid URL escape {quoted(escape[0])}")
    return _escaped(host)


def _has_port(host: str) -> bool:
    return bool(re.search(r":[0-9]*$", host)) and (not host.startswith("[") or "]:" in host)


def _escaped(text: str) -> str:
    if found := _ESCAPE.search(text):
        raise BadUrl(f"invalid URL escape {quoted(text[found.start() : found.start() + 3])}")
    return text
