"""transformResponse: the document in a webhook's reply, or client-go's error."""

from __future__ import annotations

import msgspec

from quintant.client.transport import ApiResponse
from quintant.cluster.apiserver.golang import json
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.core.text import one_line

MESSAGE_CHARACTERS = 4096
"""What is repeated of a reply that is no document: it may have megabytes."""
_NO_OBJECT = (
    "json: cannot unmarshal string into Go value of type struct { APIVersion string "
    '"json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
)
_STATUS_TEXTS = {
    400: "the server rejected our request for an unknown reason",
    401: "the server has asked for the client to provide credentials",
    404: "the server could not find the requested resource",
    405: "the server does not allow this method on the requested resource",
    409: "the server reported a conflict",
    422: "the server rejected our request due to an error in our request",
    429: "the server has received too many requests and has asked us to try again later",
    503: "the server is currently unable to handle the request",
}


class NoDocument(Exception):
    """A reply that holds no document."""


def read_document(reply: ApiResponse) -> JsonObject:
    """The document in a reply; NoDocument says why there is none."""
    if not 200 <= reply.status < 300:
        raise NoDocument(_refusal(reply))
    if not reply.body:
        media = reply.headers.get("content-type", "")
        text = f"0-length response with status code: {reply.status} and content type: {media}"
        raise NoDocument(text)
    try:
        document = json.decode(reply.body)
    except json.NotJson:
        # A real server takes what is no JSON for YAML, and most texts are a string there.
        document = None
    if not isinstance(document, dict):
        raise NoDocument(f"couldn't get version/kind; json parse error: {_NO_OBJECT}")
    return document


def _refusal(reply: ApiResponse) -> str:
    try:
        status = json.decode(reply.body)
    except json.NotJson:
        status = None
    if isinstance(status, dict) and status.get("kind") == "Status" and status.get("message"):
        return one_line(str(status["message"]), MESSAGE_CHARACTERS)
    if reply.status in _STATUS_TEXTS:
        return _STATUS_TEXTS[reply.status]
    text = reply.body[:MESSAGE_CHARACTERS].decode(errors="replace").strip()
    shown = msgspec.json.encode(text).decode() if text else '"unknown"'
    return f"an error on the server ({shown}) has prevented the request from succeeding"
