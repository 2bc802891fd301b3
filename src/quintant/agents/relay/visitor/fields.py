"""Which fields are passed on, and what the relay says about a visitor to the Service.

Fields of one hop end here; of trailers those as well that decide about the message itself. What
visitors say about where they come from is believed only of proxies that the relay was told to
trust. The Host stays: the Service sees its public name.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from quintant.http.framing import Framing, FramingKind
from quintant.http.head import (
    Field,
    Fields,
    RequestHead,
    ResponseHead,
    encode_head,
    upgrade_protocol,
)

VIA = b"1.1 portal-relay"
# Python 3.11 calls a function for each `FramingKind.NONE`, several for each request.
_NONE, _LENGTH, _CHUNKED = FramingKind.NONE, FramingKind.LENGTH, FramingKind.CHUNKED
_HOP = frozenset(
    (
        b"connection", b"keep-alive", b"proxy-connection", b"te", b"trailer",
        b"transfer-encoding", b"upgrade", b"content-length", b"proxy",
    )
)  # fmt: skip
"""Of one hop; lengths are written anew, and nobody but an attacker sends `Proxy`."""
_KEPT = frozenset((b"host", b"authorization", b"cookie", b"expect"))
"""Cannot be struck out by naming them in Connection."""
_ORIGIN = frozenset(
    (
        b"x-forwarded-for", b"x-forwarded-proto", b"x-forwarded-host", b"x-forwarded-port",
        b"x-real-ip", b"forwarded", b"x-request-id", b"true-client-ip", b"x-client-ip",
        b"x-cluster-client-ip", b"cf-connecting-ip", b"fastly-client-ip", b"x-forwarded",
        b"x-original-forwarded-for", b"x-originating-ip",
    )
)  # fmt: skip

_OF_RELAY = _HOP | _ORIGIN
"""Fields that the relay writes itself, whatever a visitor sends."""
_OF_RELAY_BEHIND_PROXY = _HOP | {b"x-forwarded-for"}
"""Behind a trusted proxy: its chain is written again with one more address."""

_BEFORE = _OF_RELAY | {
    b"age", b"authorization", b"cache-control", b"content-encoding", b"content-range",
    b"content-type", b"cookie", b"date", b"expect", b"expires", b"host", b"if-match",
    b"if-modified-since", b"if-none-match", b"if-range", b"if-unmodified-since", b"location",
    b"max-forwards", b"pragma", b"proxy-authenticate", b"proxy-authorization", b"range",
    b"retry-after", b"set-cookie", b"vary", b"via", b"www-authenticate",
}  # fmt: skip
"""Mean something only before the body (RFC 9110, 6.5.1): some programs add trailers to the head."""


@dataclass(frozen=True, slots=True)
class ClientOrigin:
    """Where a request comes from, and how it came."""

    address: str
    scheme: str
    port: int
    trusted: bool = False
    """A proxy whose word about its own visitors is passed on."""
    fields: Fields = field(init=False, repr=False, compare=False)
    """What a Service is told about it with every request."""

    def __post_init__(self) -> None:
        object.__setattr__(
            self,
            "fields",
            (
                (b"X-Forwarded-For", self.address.encode()),
                (b"X-Forwarded-Proto", self.scheme.encode()),
                (b"X-Forwarded-Port", b"%d" % self.port),
            ),
        )


def to_service(
    head: RequestHead,
    target: bytes,
    framing: Framing,
    visitor: ClientOrigin,
    request_id: str,
    *,
    via: bytes = VIA,
) -> bytes:
    """The head of a request as the Service gets it."""
    fields = [
        *_passed(head, _OF_RELAY_BEHIND_PROXY if visitor.trusted else _OF_RELAY),
        *(_behind_proxy(head, visitor) if visitor.trusted else visitor.fields),
        *_of_request(head, visitor, request_id),
        (b"Via", via),
    ]
    if framing.kind is not _NONE:
        fields += _length(framing)
        fields += _announced(head, framing)
    if head.connection or b"te" in head.index:
        fields += _hop_fields(head)
    return encode_head(head.method + b" " + target + b" HTTP/1.1", fields)


def to_visitor(
    head: ResponseHead, framing: Framing, close: bool, method: bytes, via: bytes = VIA
) -> bytes:
    """The head of a response as the visitor gets it."""
    fields = [*_passed(head, _HOP), (b"Via", via)]
    if head.status == 101:
        fields += [(b"Connection", b"Upgrade"), (b"Upgrade", upgrade_protocol(head))]
        return encode_head(_status(head), fields)
    if head.status >= 200:
        fields += _length(framing) or _kept_length(head, method)
        if b"trailer" in head.index:
            fields += _announced(head, framing)
        fields += [(b"Connection", b"close")] if close else []
    return encode_head(_status(head), fields)


def pass_trailers(trailers: Fields) -> list[Field]:
    """The fields behind a body that are passed on."""
    return [each for each in trailers if each[0].lower() not in _BEFORE and not _disguised(each[0])]


def _announced(head: RequestHead | ResponseHead, framing: Framing) -> list[Field]:
    """Which trailers will come, where some can."""
    if not (named := head.words(b"trailer")) or framing.kind is not _CHUNKED:
        return []
    passed = [name for name, _ in pass_trailers(tuple((name, b"") for name in named))]
    return [(b"Trailer", b", ".join(passed))] if passed else []


def _hop_fields(head: RequestHead) -> list[Field]:
    """What is asked of the next hop: another protocol, and trailers."""
    protocol, trailers = upgrade_protocol(head), b"trailers" in head.words(b"te")
    fields = [(b"Upgrade", protocol)] if protocol else []
    fields += [(b"TE", b"trailers")] if trailers else []
    named = b", ".join(name for name, _ in fields)
    return [(b"Connection", named), *fields] if fields else []


def _status(head: ResponseHead) -> bytes:
    return b"HTTP/1.1 %d %b" % (head.status, head.reason)


def _passed(head: RequestHead | ResponseHead, without: frozenset[bytes]) -> list[Field]:
    """The fields that are of more than one hop."""
    if head.connection:
        without |= frozenset(head.connection) - _KEPT
    return [
        each
        for each in head.fields
        if each[0].lower() not in without and not (b"_" in each[0] and _disguised(each[0]))
    ]


def _disguised(name: bytes) -> bool:
    """Whether a Service may take it for a field that is the relay's to write: CGI, and what follows
    it, makes no difference between `X_Forwarded_For` and `X-Forwarded-For`."""
    return b"_" in name and name.lower().replace(b"_", b"-") in _OF_RELAY


def _length(framing: Framing) -> list[Field]:
    if framing.kind is _CHUNKED:
        return [(b"Transfer-Encoding", b"chunked")]
    if framing.kind is _LENGTH:
        return [(b"Content-Length", b"%d" % framing.size)]
    return []


def _kept_length(head: ResponseHead, method: bytes) -> list[Field]:
    """The length of a body that is not sent: of an answer to HEAD, or of 304."""
    sizes = head.all(b"content-length")
    if sizes and head.status != 204:
        return [(b"Content-Length", sizes[0])]
    chunked = method == b"HEAD" and head.all(b"transfer-encoding")
    return [(b"Transfer-Encoding", b"chunked")] if chunked else []


def _of_request(head: RequestHead, visitor: ClientOrigin, request_id: str) -> list[Field]:
    """What is said of a request itself, unless a trusted proxy said it."""
    host, id = (b"X-Forwarded-Host", head.all(b"host")[0]), (b"X-Request-Id", request_id.encode())
    return _unsaid(head, (host, id)) if visitor.trusted else [host, id]


def _behind_proxy(head: RequestHead, proxy: ClientOrigin) -> list[Field]:
    """The chain of addresses, one longer; and what the proxy did not say."""
    (name, came), *others = proxy.fields
    chain = b", ".join((*head.all(b"x-forwarded-for"), came))
    return [(name, chain), *_unsaid(head, others)]


def _unsaid(head: RequestHead, fields: Iterable[Field]) -> list[Field]:
    return [each for each in fields if each[0].lower() not in head.index]
