"""Tokens that are kept in a Secret, and followed at the API server.

A Secret that is mounted reaches a program a minute or two after it changed; one that is followed
within a moment, so that a token that is taken away ends its tunnels at once. A Secret that is gone
allows nobody; one that cannot be read leaves the last good list in force.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Callable
from contextlib import aclosing, suppress
from typing import Any

from quintant.agents.apiclient.client import ApiClient
from quintant.agents.apiclient.object_path import ObjectPath
from quintant.agents.apiclient.pod_account import PodAccount
from quintant.agents.multiplex.program import say
from quintant.agents.relay.tunnel.tokens import TokenEntry, TokenList, parse

KEY = "tokens.json"
FIRST_SECONDS = 10.0
"""How long a start waits for the list; tunnels are refused until it is here."""


class SecretTokens(TokenList):
    """The list in a Secret of the relay's own namespace."""

    def __init__(self, name: str, account: PodAccount) -> None:
        super().__init__(())
        self._account = account
        self._path = ObjectPath("v1", "Secret", "secrets", name, account.namespace)
        self._first = asyncio.Event()

    async def wait_first(self) -> None:
        """Return once the list is here, or has taken too long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(FIRST_SECONDS):
                await self._first.wait()

    async def follow(self, changed: Callable[[], None]) -> None:
        """Keep the list as the Secret has it, for ever; `changed` is called whenever it is new."""
        async with (
            ApiClient(self._account) as client,
            aclosing(aiter(client.watch(self._path))) as states,
        ):
            async for secret in states:
                try:
                    self.replace(entries_of(secret))
                    changed()
                except ValueError as error:
                    say("not reloaded", secret=self._path.name, because=str(error))
                self._first.set()


def entries_of(secret: dict[str, Any] | None) -> tuple[TokenEntry, ...]:
    """The entries of a Secret; ValueError says what is wrong, and never shows what it holds."""
    if secret is None:
        return ()
    held = (secret.get("data") or {}).get(KEY)
    if held is None:
        raise ValueError(f"it has no key {KEY}")
    try:
        return parse(base64.b64decode(held, validate=True))
    except binascii.Error:
        raise ValueError(f"{KEY} is not base64") from None
