"""A transport that notes which writes have left and were not answered, and says whose they are.

It stands below retries, so that every try counts by itself. A range is released only when none of
its writes can still be carried out; the audit log shows range and epoch in the User-Agent.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from quintant.client.fence import FENCE_KEY
from quintant.client.transport import ApiRequest, ApiResponse, ApiStream, Transport
from quintant.core.errors import ConfigError, NotLeader
from quintant.runtime.shard.layout import range_name
from quintant.runtime.shard.owned_ranges import OwnedRanges
from quintant.version import QUINTANT


class SentWrites(Struct, frozen=True):
    """Any transport, with the writes of every range counted."""

    inner: Transport
    owned: OwnedRanges
    refused: Callable[[], None]
    """Counts a write that never left."""

    async def request(self, call: ApiRequest) -> ApiResponse:
        if call.fence is None or (key := FENCE_KEY.get()) is None:
            return await self.inner.request(call)
        number, answered = key.range, False
        headers = {**call.headers, "user-agent": _agent(number, key.epoch)}
        self.owned.sending(number)
        try:
            reply = await self.inner.request(replace(call, headers=headers))
            answered = True
        except (NotLeader, ConfigError):
            answered = True  # it was refused here, and never left
            self.refused()
            raise
        finally:
            self.owned.sent(number, answered=answered)
        return reply

    def stream(self, call: ApiRequest) -> AbstractAsyncContextManager[ApiStream]:
        return self.inner.stream(call)

    async def close(self) -> None:
        await self.inner.close()


@lru_cache(maxsize=1024)  # one for each range that is held
def _agent(number: int, epoch: int) -> str:
    return f"quintant/{QUINTANT} range={range_name(number)} epoch={epoch}"
