"""Secrets that name the hosts which may see them.

Who may create an object that names a Secret and a server need not be allowed to read Secrets: the
operator, which is, would show him any by sending it to a server of his. So the Secret itself has to
name the host, in an annotation that only who may write it can set.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection
from urllib.parse import urlsplit

from quintant.core.object import Object

_NAMEABLE = re.compile(r"[a-z0-9._:-]+", re.ASCII)
"""Hosts that can be in a list: nothing of them is taken for more than a host."""
_DEFAULT_PORTS = {"https": 443, "wss": 443, "http": 80, "ws": 80}


def url_host(url: str) -> str:
    """Host and port, without the port that the scheme implies; empty if no Secret can name it."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return ""
    if _NAMEABLE.fullmatch(host) is None:
        return ""
    if port in (None, _DEFAULT_PORTS.get(parts.scheme)):
        return _bracketed(host)
    return f"{_bracketed(host)}:{port}"


def named_hosts(secret: Object, annotation: str) -> frozenset[str]:
    """The hosts that may see a Secret, as host or host:port, by commas."""
    listed = secret.metadata.annotations.get(annotation, "").split(",")
    return frozenset(each.strip().lower() for each in listed) - {""}


def annotate_command(secret: Object, annotation: str, hosts: Collection[str]) -> str:
    """What to run if these hosts may see a Secret; those that may already, still may."""
    meta = secret.metadata
    listed = shlex.quote(",".join(sorted({*named_hosts(secret, annotation), *hosts})))
    return (
        f"kubectl annotate secret -n {meta.namespace} {meta.name} {annotation}={listed} --overwrite"
    )


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
