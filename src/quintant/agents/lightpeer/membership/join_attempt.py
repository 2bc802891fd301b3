"""A join under way: who else may become a member meanwhile.

Which chain a joining peer will have is open, so whoever wants to join it waits until that is
decided. Two peers that join each other would wait for each other, or change chains and be in no
network together: of these the one with the smaller address gives its own join up, and has the other
join it. Peers that join in a longer circle are refused, all of them, and may be asked again.
"""

from __future__ import annotations

import asyncio
from types import TracebackType


class JoinAttempt:
    """The join of a peer to the network of another, until its chain is taken over."""

    def __init__(self, me: str, contact: str) -> None:
        self.gave_way: bool = False
        self._me, self._contact = me, contact
        self._final = False
        self._limit = asyncio.timeout(None)

    async def __aenter__(self) -> JoinAttempt:
        await self._limit.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        try:
            await self._limit.__aexit__(kind, error, trace)
        except TimeoutError:
            return self.gave_way
        return self.gave_way and isinstance(error, Exception)

    def meet(self, joiner: str) -> None:
        """Take note of who wants to join this peer; give way if it is the one to be joined."""
        if joiner == self._contact and self._me < joiner and not self._final:
            self.gave_way = True
            self._limit.reschedule(asyncio.get_running_loop().time())

    def finish(self) -> None:
        """From now on the other chain is taken over, whoever comes."""
        self._final = not self.gave_way
        # What gave way ends here, at the latest.
        if self.gave_way:
            raise TimeoutError
