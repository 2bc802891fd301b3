"""What pip is told during the build: the settings of this machine, as far as a build can use them.

A site has an index of its own, a proxy, an authority that signs both. pip reads them from files and
variables of the host, which the build does not see. They are lent to it as secrets of the engine:
one file of settings, one of certificates. Neither becomes part of a layer, of the image's history,
or of the repository; an index's address may have a password in it.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping
from configparser import Error, RawConfigParser
from pathlib import Path

CA_IN_BUILD = "/run/secrets/ca"
USED = ("index-url", "extra-index-url", "find-links", "trusted-host", "proxy", "timeout", "retries")
"""Settings that mean the same in a build; others name folders of this machine, or are taste."""
_ALIASES = {"default-timeout": "timeout"}
_SECTIONS = ("global", "install")
_REMOTE = ("http://", "https://")
_CA_VARIABLES = ("PIP_CERT", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE")
_CA_FILES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt")

Settings = Mapping[str, str]


def files(environ: Mapping[str, str]) -> Iterator[Path]:
    """Where pip has its settings, the weaker first."""
    home = Path(environ.get("HOME") or Path.home())
    yield Path("/etc/pip.conf")
    yield home / ".pip" / "pip.conf"
    yield Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "pip" / "pip.conf"
    if own := environ.get("PIP_CONFIG_FILE"):
        yield Path(own)


def settings(environ: Mapping[str, str]) -> dict[str, str]:
    """The settings of files and variables, of which variables win."""
    found: dict[str, str] = {}
    for path in files(environ):
        found |= _of_file(path)
    for key, value in environ.items():
        if key.startswith("PIP_"):
            name = key.removeprefix("PIP_").lower().replace("_", "-")
            # Several values stand in one variable with blanks between them.
            found[_ALIASES.get(name, name)] = "\n".join(value.split())
    return found


def certificates(found: Settings, environ: Mapping[str, str]) -> Path | None:
    """The authorities that pip trusts here, or None where it has its own only."""
    named = (environ.get("PIP_CERT"), found.get("cert"), *map(environ.get, _CA_VARIABLES))
    return next(
        (Path(each) for each in (*named, *_CA_FILES) if each and os.path.isfile(each)), None
    )


def for_build(found: Settings, *, with_certificates: bool) -> str:
    """The text of pip.conf for the build."""
    used = {name: _usable(name, found[name]) for name in USED if name in found}
    written = RawConfigParser()
    written["global"] = {name: value for name, value in used.items() if value}
    if with_certificates:
        written["global"]["cert"] = CA_IN_BUILD
    text = io.StringIO()
    written.write(text)
    return text.getvalue()


def _usable(name: str, value: str) -> str:
    """A value without folders of this machine, which the build does not see."""
    if name != "find-links":
        return value
    return "\n".join(each for each in value.split() if each.startswith(_REMOTE))


def _of_file(path: Path) -> dict[str, str]:
    parser = RawConfigParser()
    try:
        parser.read(path, encoding="utf-8")
    except (Error, OSError, UnicodeError):
        return {}
    present = [section for section in _SECTIONS if parser.has_section(section)]
    return {key.replace("_", "-"): value for each in present for key, value in parser.items(each)}
