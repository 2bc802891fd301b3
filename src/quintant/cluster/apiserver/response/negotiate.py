"""NegotiateOutputMediaType: the media type of an answer: the Accept header, `pretty`, browsers.

    Accept: application/json;as=Table;v=v1;g=meta.k8s.io, application/json;q=0.5
            └─ media type ─┘ └──── transformation ─────┘

Every answer is made as compact JSON; `encode_reply` turns it into what was liked at the very end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from functools import lru_cache, partial

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from quintant.client.transport import ApiRequest, ApiResponse
from quintant.cluster.apiserver.codec.body import JSON, PROTOBUF, YAML
from quintant.cluster.apiserver.codec.size import YAML_WEIGHT
from quintant.cluster.apiserver.meta.status import form_not_acceptable, not_acceptable
from quintant.cluster.apiserver.offload.pool import Offload
from quintant.cluster.apiserver.response.list_stream import INDENT, ListStream

MEDIA = (JSON, YAML, PROTOBUF)
"""What a real server names as acceptable. Protobuf is read here, but not written."""
STREAMS = (f"{JSON};stream=watch", f"{PROTOBUF};stream=watch")
MOST = 1_000
"""Media types of an Accept header that are looked at: far more than anybody knows."""
REMEMBERED = 256
"""Accept headers whose meaning is kept: clients send few different ones."""
LONGEST = 1024
"""Characters of a header whose meaning is kept: longer ones would fill the memory."""
_BROWSERS = ("curl", "Wget", "Mozilla/5.0")
_META = "meta.k8s.io"
_META_VERSIONS = frozenset({"v1", "v1beta1"})
_TRUE = frozenset({"1", "true", "True", "TRUE", "t", "T"})


class ResponseForm(Enum):
    """The form of an answer; the text is what a client asks for by."""

    WHOLE = ""
    PARTIAL = "PartialObjectMetadata"
    PARTIALS = "PartialObjectMetadataList"
    TABLE = "Table"


class NegotiatedMedia(Struct, frozen=True):
    """What a client likes best among what there is."""

    media: str = JSON
    answer: ResponseForm = ResponseForm.WHOLE
    version: str = "v1"
    """Of meta.k8s.io, for a transformed answer."""
    pretty: bool = False


class AcceptClause(Struct, frozen=True):
    """One media type of an Accept header."""

    media: str
    parameters: Mapping[str, str]

    def covers(self, media: str) -> bool:
        """Whether it means a media type."""
        return self.media in (media, "*/*", f"{media.partition('/')[0]}/*")


def negotiate(
    accept: str,
    *,
    routed: bool,
    collection: bool = False,
    watching: bool = False,
    tables: bool = True,
) -> NegotiatedMedia:
    """What an Accept header asks for; 406 if there is nothing of the kind.

    `routed` says that the router looks first, which takes names literally; it does not for custom
    resources. A `collection` could be watched, and a watch cannot be answered in YAML. Without
    `tables` there is no form that has columns: nothing is stored that could have them.
    """
    if routed and not (_routable(accept) if len(accept) <= LONGEST else _is_routed(accept)):
        raise not_acceptable((*MEDIA, *STREAMS) if collection else MEDIA)
    negotiated = _best(accept) if tables else _liked_best(_without_tables(clauses(accept)))
    if negotiated is None:
        raise form_not_acceptable(MEDIA)
    if watching and negotiated.media == YAML:
        raise form_not_acceptable(STREAMS)
    return negotiated


def _is_routed(accept: str) -> bool:
    """Whether a header names something that the router has."""
    return any(clause.media in (*MEDIA, "*/*") for clause in clauses(accept))


_routable = lru_cache(REMEMBERED)(_is_routed)


def clauses(accept: str) -> tuple[AcceptClause, ...]:
    """The media types of an Accept header, the most liked first."""
    return _remembered(accept) if len(accept) <= LONGEST else _clauses(accept)


def _without_tables(liked: Iterable[AcceptClause]) -> tuple[AcceptClause, ...]:
    table = ResponseForm.TABLE.value
    return tuple(clause for clause in liked if clause.parameters.get("as") != table)


@lru_cache(REMEMBERED)
def _remembered(accept: str) -> tuple[AcceptClause, ...]:
    return _clauses(accept)


def _clauses(accept: str) -> tuple[AcceptClause, ...]:
    found = []
    for text in (accept or "*/*").split(",", MOST)[:MOST]:
        media, *rest = (part.strip() for part in text.split(";"))
        parameters = dict(part.partition("=")[::2] for part in rest)
        found.append((_quality(parameters), AcceptClause(media.lower(), parameters)))
    found.sort(key=lambda pair: -pair[0])
    return tuple(clause for _, clause in found)


def preferred_media(call: ApiRequest) -> str:
    """The media type for an answer whose form is not negotiated: a refusal, for one."""
    best = _best(call.headers.get("accept", ""))
    return JSON if best is None else best.media


def list_reply(call: ApiRequest, listing: ListStream) -> ListStream | None:
    """A large list as the client likes to read it; None if that cannot be sent in pieces."""
    if preferred_media(call) == YAML:
        return None
    return replace(listing, pretty=_pretty(call, _best(call.headers.get("accept", ""))))


async def encode_reply(call: ApiRequest, reply: ApiResponse, beside: Offload) -> ApiResponse:
    """A JSON answer as the client likes to read it: YAML, indented, or as it is."""
    if reply.headers.get("content-type", JSON).partition(";")[0] != JSON or not reply.body:
        return reply
    best = _best(call.headers.get("accept", ""))
    if best is not None and best.media == YAML:
        # PyYAML is loaded for the first who likes it.
        from quintant.cluster.apiserver.response.yaml import dumped

        parameters = reply.headers.get("content-type", "").partition(";")
        headers = {**reply.headers, "content-type": "".join((YAML, *parameters[1:]))}
        body = await beside.run(partial(dumped, reply.body), len(reply.body) * YAML_WEIGHT)
        return replace(reply, body=body, headers=headers)
    if _pretty(call, best):
        return replace(reply, body=msgspec.json.format(reply.body, indent=INDENT).rstrip())
    return reply


def _best(accept: str) -> NegotiatedMedia | None:
    return _remembered_best(accept) if len(accept) <= LONGEST else _liked_best(_clauses(accept))


@lru_cache(REMEMBERED)
def _remembered_best(accept: str) -> NegotiatedMedia | None:
    return _liked_best(clauses(accept))


def _liked_best(liked: tuple[AcceptClause, ...]) -> NegotiatedMedia | None:
    for clause in liked:
        for media in (JSON, YAML):
            negotiated = _negotiated(clause, media) if clause.covers(media) else None
            if negotiated is not None:
                return negotiated
    return None


def _negotiated(clause: AcceptClause, media: str) -> NegotiatedMedia | None:
    """What a clause asks for in a media type, if it can be had."""
    parameters = clause.parameters
    if media == YAML and "stream" in parameters:
        return None
    pretty = parameters.get("pretty") == "1"
    wanted = parameters.get("as", "")
    if not wanted:
        return NegotiatedMedia(media, pretty=pretty)
    version = parameters.get("v", "")
    if parameters.get("g") != _META or version not in _META_VERSIONS:
        return None
    try:
        return NegotiatedMedia(media, ResponseForm(wanted), version, pretty)
    except ValueError:
        return None


def _pretty(call: ApiRequest, best: NegotiatedMedia | None) -> bool:
    value = call.query.get("pretty")
    if value is not None:
        return value in _TRUE
    if best is not None and best.pretty:
        return True
    return call.headers.get("user-agent", "").startswith(_BROWSERS)


def _quality(parameters: Mapping[str, str]) -> float:
    try:
        return float(parameters.get("q", "1"))
    except ValueError:
        return 0.0
