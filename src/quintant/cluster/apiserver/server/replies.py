"""WriteObjectNegotiated, ErrorNegotiated: answers in the form that was asked for, with headers."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from quintant.client.transport import ApiRequest, ApiResponse
from quintant.cluster.apiserver.codec.body import JSON
from quintant.cluster.apiserver.handlers.pod_logs import HEADERS as TEXT
from quintant.cluster.apiserver.handlers.pod_logs import LogStream
from quintant.cluster.apiserver.handlers.pod_streams import PodStream
from quintant.cluster.apiserver.meta.status import StatusError
from quintant.cluster.apiserver.offload.pool import Offload
from quintant.cluster.apiserver.proxy.handler import ProxiedResponse
from quintant.cluster.apiserver.proxy.headers import joined
from quintant.cluster.apiserver.response.list_stream import ListStream
from quintant.cluster.apiserver.response.negotiate import encode_reply, list_reply
from quintant.cluster.apiserver.watch.hub import Watcher
from quintant.core.clock import Random

HEADERS = {"cache-control": "no-cache, private", "content-type": JSON}
Flow = Watcher | LogStream | ListStream | ProxiedResponse
"""An answer that continues."""
Answer = ApiResponse | Flow | PodStream
_OK, _SWITCHING = 200, 101


def status_code(answer: Answer) -> int:
    """The status that an answer has, or begins with."""
    if isinstance(answer, ApiResponse | ProxiedResponse):
        return answer.status
    return _SWITCHING if isinstance(answer, PodStream) else _OK


class Replies(Struct, frozen=True):
    """Gives answers their headers, and their form."""

    random: Random
    offload: Offload

    async def refusal(self, call: ApiRequest, error: StatusError) -> ApiResponse:
        """A refusal, as the Status that a client reads."""
        reply = ApiResponse(error.code, error.encode(), self.headers() | error.headers)
        return await encode_reply(call, reply, self.offload)

    async def listed(self, call: ApiRequest, listing: ListStream) -> ApiResponse | ListStream:
        """A large list in the form that is wanted, which may have to be written first."""
        reply = list_reply(call, listing)
        if reply is not None:
            return reply
        body = b"".join([chunk async for chunk in listing.chunks()])
        return await self.complete(call, ApiResponse(200, body, listing.headers))

    async def complete(self, call: ApiRequest, reply: ApiResponse) -> ApiResponse:
        """An answer with every header, in the form that is wanted."""
        headers = {**self.headers(), **reply.headers}
        if not reply.body and "content-type" not in reply.headers:
            # What a client keeps would be taken for something else than it is.
            del headers["content-type"]
        return await encode_reply(call, replace(reply, headers=headers), self.offload)

    def flow_headers(self, flow: Flow) -> dict[str, str]:
        """What an answer that continues carries."""
        if isinstance(flow, ProxiedResponse):
            there = {name for name, _ in flow.fields} | {"content-type"}
            own = {name: value for name, value in self.headers().items() if name not in there}
            return own | joined(flow.fields)
        more = flow.headers if isinstance(flow, ListStream) else {}
        return {**self.headers(), **more, **(TEXT if isinstance(flow, LogStream) else {})}

    def headers(self) -> dict[str, str]:
        """What every answer carries, this one with an id of its own."""
        return {**HEADERS, "audit-id": self.random.id()}
