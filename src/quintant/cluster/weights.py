"""How much work a request is, before it is begun: what is heavy is done beside the loop."""

from __future__ import annotations

from quintant.cluster.media import APPLY_PATCH, YAML, said_media
from quintant.runtime.client.transport import Call

YAML_WEIGHT = 16
"""Bytes of JSON that are read or written while one of YAML is."""


def weight(call: Call) -> int:
    """What reading the body of a request takes, in bytes of JSON."""
    body = call.body or b""
    plain = said_media(call.headers) not in (YAML, APPLY_PATCH) or body.lstrip()[:1] == b"{"
    return len(body) * (1 if plain else YAML_WEIGHT)
