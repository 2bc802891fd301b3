"""The names of kopf's annotations: what is ours, what is another operator's, and how long is long.

A name has at most 63 characters; a longer one ends with a digest. Annotations are written under a
newer and an older form of their name, where the two differ, so that older versions find them.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping, MutableMapping
from functools import lru_cache
from typing import Any

from quintant.kopf.values.fields import resolve

MOST_CHARACTERS = 63
MARKER = "kopf-managed"
KNOWN_PREFIX = "kopf.zalando.org"
_SAFE = str.maketrans({"/": ".", "<": "_", ">": "_"})


def annotation_names(prefix: str, key: str, body: Mapping[str, Any], *, older: bool) -> list[str]:
    """The names under which something is kept on an object, the first to be read first."""
    return list(_names(prefix, f"{key}-ofDRS" if _inherits_annotations(body) else key, older=older))


@lru_cache(maxsize=1024)  # of an operator's handlers, and again for every object
def _names(prefix: str, key: str, *, older: bool) -> tuple[str, ...]:
    newer = _newer(prefix, key)
    name = _older(prefix, key) if older else newer
    return (newer,) if name == newer else (newer, name)


def foreign_prefixes(names: Iterable[str]) -> set[str]:
    """The prefixes of annotations that operators of this kind keep for themselves."""
    parts = [name.partition("/") for name in names if "/" in name]
    return {
        prefix
        for prefix, _, name in parts
        if name == MARKER or prefix == KNOWN_PREFIX or prefix.endswith(f".{KNOWN_PREFIX}")
    }


def mark_prefix(prefix: str, body: Mapping[str, Any], patch: MutableMapping[str, Any]) -> None:
    """Have others see that annotations of a prefix are an operator's own."""
    name = f"{prefix}/{MARKER}"
    there = resolve(body, ("metadata", "annotations"), {}) or {}
    if not prefix.startswith("kopf.") and name not in there:
        patch.setdefault("metadata", {}).setdefault("annotations", {}).setdefault(name, "yes")


def _newer(prefix: str, key: str) -> str:
    suffix = _digest(key) if len(key) > MOST_CHARACTERS else ""
    return f"{prefix}/{key.translate(_SAFE)[: MOST_CHARACTERS - len(suffix)]}{suffix}"


def _older(prefix: str, key: str) -> str:
    """Where the prefix counts, too, and the digest is that of the safe name."""
    safe, room = key.translate(_SAFE), MOST_CHARACTERS - len(prefix) - 1
    suffix = _digest(safe) if len(safe) > room else ""
    return f"{prefix}/{safe[: room - len(suffix)]}{suffix}"


def _digest(key: str) -> str:
    digest = hashlib.blake2b(key.encode(), digest_size=4).digest()
    return f"-{base64.b64encode(digest, b'-.').decode()}".rstrip("=-.")


def _inherits_annotations(body: Mapping[str, Any]) -> bool:
    """Whether a controller copies its owner's annotations to an object."""
    if body.get("kind") != "ReplicaSet":
        return False
    owners = resolve(body, ("metadata", "ownerReferences"), ()) or ()
    return any(owner.get("kind") == "Deployment" for owner in owners)
