"""One provider's gate: how many ask it at once, and who asks while it is out of reach.

Requests have lanes. All of them together are as many as the provider may be asked at once; what is
about a deletion has places of its own, and dry runs leave some to others, so that neither waits
behind the other. Updates, which a provider answers when machines are made, have places apart.

When a provider does not answer, each of its hundreds of Clusters would find out by itself, with a
worker waiting for it. So the first failure closes the gate for a while, and each call meanwhile
gets the answer that the first got. Then one is let through; its success opens the gate for all.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from enum import Enum, auto

from quintant.core.clock import monotonic
from quintant.operators.infra.observed.answers import (
    CLOUD_UNREACHABLE,
    IMPORT_UNREACHABLE,
    ErrorClass,
    Failure,
    ProviderError,
)

FIRST_SECONDS, CAP_SECONDS = 2.0, 15.0
"""With the longest wait of a Cluster, less than a minute until all know that it is back."""


DELETION_PART = 4
"""Of the places for requests, one in so many is for deletions."""
LONG_FACTOR = 4
"""Updates that may be under way, in multiples of the places: they take minutes, and little work."""


class Lane(Enum):
    """What a request is, and so for whom it makes room."""

    COMMON = auto()
    DRY_RUN = auto()
    DELETION = auto()
    """Whatever is asked about something that is to go."""
    LONG = auto()
    """It is answered when it is done."""
    LONG_DELETION = auto()


class Gate:
    """What is known of the reach of one provider, which is asked `limit` things at once."""

    def __init__(self, limit: int) -> None:
        share = max(limit // DELETION_PART, 1)
        rest = max(limit - share, 1)
        common = asyncio.Semaphore(rest)
        self._lanes = {
            Lane.COMMON: (common,),
            Lane.DRY_RUN: (asyncio.Semaphore(max(rest // 2, 1)), common),
            Lane.DELETION: (asyncio.Semaphore(share) if limit > 1 else common,),
            Lane.LONG: (asyncio.Semaphore(limit * LONG_FACTOR),),
            Lane.LONG_DELETION: (asyncio.Semaphore(limit),),
        }
        self._failure: Failure | None = None
        self._pause = FIRST_SECONDS
        self._due = 0.0

    @asynccontextmanager
    async def passage(self, lane: Lane = Lane.COMMON) -> AsyncIterator[None]:
        """The right to ask; ProviderError at once while the provider is known not to answer."""
        self._refuse()
        async with AsyncExitStack() as held:
            for places in self._lanes[lane]:
                await held.enter_async_context(places)
            self._refuse()
            finds_out = self._failure is not None
            if finds_out:
                # Only this one finds out whether it is back.
                self._due = monotonic() + self._pause
            try:
                yield
            except ProviderError as error:
                self._heard(error.failure, finds_out)
                raise
            self._open()

    def _refuse(self) -> None:
        if self._failure is not None and monotonic() < self._due:
            raise ProviderError(replace(self._failure, applied=False))

    def _heard(self, failure: Failure, again: bool) -> None:
        others = (IMPORT_UNREACHABLE, CLOUD_UNREACHABLE)
        lost = failure.kind is ErrorClass.TRANSIENT and failure.reason not in others
        if not lost:
            self._open()
            return
        if again:
            self._pause = min(self._pause * 2, CAP_SECONDS)
        self._failure, self._due = failure, monotonic() + self._pause

    def _open(self) -> None:
        self._failure, self._pause = None, FIRST_SECONDS
