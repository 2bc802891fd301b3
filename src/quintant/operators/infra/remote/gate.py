"""One provider's gate: how many ask it at once, and who asks while it is out of reach.

When a provider does not answer, each of its hundreds of Clusters would find out by itself, with a
worker waiting for it. So the first failure closes the gate for a while, and whoever comes meanwhile
is told what the first was told. Then one is let through; its success opens the gate for all.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace

from quintant.core.clock import monotonic
from quintant.operators.infra.observe.answers import ErrorClass, Failure, ProviderError

FIRST_SECONDS, CAP_SECONDS = 2.0, 30.0


class Gate:
    """What is known of the reach of one provider."""

    def __init__(self, limit: int) -> None:
        self._places = asyncio.Semaphore(limit)
        self._failure: Failure | None = None
        self._pause = FIRST_SECONDS
        self._due = 0.0

    @asynccontextmanager
    async def passage(self, *, long: bool = False) -> AsyncIterator[None]:
        """The right to ask; ProviderError at once while the provider is known not to answer.

        A long call takes no place: its like are counted elsewhere, and would keep others waiting.
        """
        self._refuse()
        async with nullcontext() if long else self._places:
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
        lost = failure.kind is ErrorClass.TRANSIENT and failure.reason != "ImportUnreachable"
        if not lost:
            self._open()
            return
        if again:
            self._pause = min(self._pause * 2, CAP_SECONDS)
        self._failure, self._due = failure, monotonic() + self._pause

    def _open(self) -> None:
        self._failure, self._pause = None, FIRST_SECONDS
