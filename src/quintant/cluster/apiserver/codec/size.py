"""How much work a request is, before it is begun: what is heavy is done beside the loop."""

from __future__ import annotations

from quintant.client.transport import ApiRequest
from quintant.cluster.apiserver.codec.body import APPLY_PATCH, YAML, is_json, sent_media_type
from quintant.cluster.apiserver.offload.pool import LIGHT_BYTES

YAML_WEIGHT = 16
"""Bytes of JSON that are read or written while one of YAML is."""

SELECTOR_WEIGHT = 16
"""Bytes of JSON that are read while one of a selector is."""


def selector_cost(call: ApiRequest) -> int:
    """What reading the selectors of a request takes, in bytes of JSON."""
    selectors = (call.query.get(name, "") for name in ("labelSelector", "fieldSelector"))
    return SELECTOR_WEIGHT * sum(map(len, selectors))


def request_cost(call: ApiRequest) -> int:
    """What reading the body of a request takes, in bytes of JSON."""
    body = call.body or b""
    if len(body) > LIGHT_BYTES or sent_media_type(call.headers) not in (YAML, APPLY_PATCH):
        return len(body)
    return len(body) * (1 if is_json(body) else YAML_WEIGHT)
