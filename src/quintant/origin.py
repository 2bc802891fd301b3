"""Where this Quintant was installed from: a wheel, or a folder with its source.

A user who lacks an extra is to install it from there. A bare name would have pip take whatever an
index has under it, which may be a stranger's.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from urllib.parse import unquote, urlsplit

# What is said where an installer wrote down nothing.
_UNKNOWN = "WHEEL_OR_FOLDER"


@dataclass(frozen=True, slots=True)
class Origin:
    """What an installer was given; `path` is empty if it was none of this machine."""

    path: str = ""
    editable: bool = False


def origin_of(installed: Distribution) -> Origin:
    """What an installer noted of an installation (direct_url.json)."""
    document = json.loads(installed.read_text("direct_url.json") or "{}")
    url = urlsplit(document.get("url", ""))
    if url.scheme != "file":
        return Origin()
    return Origin(unquote(url.path), bool(document.get("dir_info", {}).get("editable")))


def install_hint(extra: str) -> str:
    """The command that installs this Quintant with an extra; never by bare name."""
    try:
        origin = origin_of(distribution("quintant"))
    except PackageNotFoundError:
        origin = Origin()
    if not origin.path:
        return f"pip install '{_UNKNOWN}[{extra}]', with what Quintant was installed from"
    flag = "-e " if origin.editable else ""
    return f"pip install {flag}{shlex.quote(f'{origin.path}[{extra}]')}"
