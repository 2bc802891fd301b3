"""Keeps a file and the chain alike: an edit becomes a block, the newest block becomes the file.

What is in the file is compared by content, so what was written here is never taken for an edit. An
edit that cannot be published is published later, under the same id, so it is in the chain once. The
last one wins; every edit stays in the chain.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from random import Random
from typing import Final, Protocol

from quintant.agents.klightpeer.file import Stamp, StateFileAccess
from quintant.agents.lightpeer.chain.block import PAYLOAD_BYTES, fresh
from quintant.agents.lightpeer.disk.chain_store import ChainStore
from quintant.agents.lightpeer.disk.folder import Worker
from quintant.agents.lightpeer.rpc.calls import Failed

POLL_SECONDS = (0.4, 0.6)
"""How often the file is looked at: a look is one stat, an edit is seen within a second."""
CALM_SECONDS = 0.1
"""A file that changed within this time may be in the middle of an edit."""
WRITE_SECONDS = 5.0

log: Final = logging.getLogger("lightpeer")


class ChainWriter(Protocol):
    """Puts things into the chain."""

    async def write(self, identity: str, payload: bytes, seconds: float) -> None:
        """Keep something on every member; Failed if that takes too long."""


@dataclass(frozen=True, slots=True)
class StateFileSettings:
    """What a state file may do."""

    read_only: bool = False


class StateFile:
    """A file that is synchronised with the chain."""

    def __init__(
        self,
        file: StateFileAccess,
        worker: Worker,
        store: ChainStore,
        writer: ChainWriter,
        *,
        chance: Random,
        settings: StateFileSettings = StateFileSettings(),
    ) -> None:
        self.file = file
        self.store = store
        self._worker = worker
        self._writer = writer
        self._chance = chance
        self._settings = settings
        self._held: bytes | None = None
        """What both the file and the chain had last."""
        self._file_block = ""
        """The block that was written to the file last, or is in it anyhow."""
        self._begun = False
        self._stamp: Stamp | None = None
        self._attempt: tuple[bytes, str] = (b"", "")
        self._complaint = ""

    async def run(self) -> None:
        """Keep them alike for ever."""
        while True:
            await self._wait(self.store.chain.newest_client)
            await self._step()

    async def _wait(self, newest: str) -> None:
        """Wait for news from the chain, or until it is time to look at the file."""
        await self.store.until(
            lambda: self.store.chain.newest_client != newest,
            self._chance.uniform(*POLL_SECONDS),
        )

    async def _begin(self) -> None:
        """Whatever the file has counts only if the chain has nothing: at the start, and after."""
        if not self.store.chain.newest_client:
            if self._held is not None:
                self._held, self._stamp, self._file_block = None, None, ""
        elif not self._begun:
            self._held = await self._read()
        self._begun = True

    async def _step(self) -> None:
        try:
            await self._begin()
            edit = await self._edit()
            if edit is not None:
                await self._publish(edit)
            await self._show()
        except (Failed, OSError) as error:
            self._complain(str(error))
        else:
            self._complaint = ""

    async def _edit(self) -> bytes | None:
        """What another program wrote to the file, once it is calm."""
        stamp = await self._worker(self.file.stamp)
        if stamp is None or stamp == self._stamp or self._settings.read_only:
            return None
        await asyncio.sleep(CALM_SECONDS)
        content = await self._read()
        if content is None or await self._worker(self.file.stamp) != stamp:
            return None  # The next look finds it calm, or gone.
        if content == self._held or (self._held is None and not content):
            self._stamp = stamp
            return None
        return content

    async def _publish(self, content: bytes) -> None:
        if len(content) > PAYLOAD_BYTES:
            raise OSError(f"the state file is longer than {PAYLOAD_BYTES} bytes and is not sent")
        if self._attempt[0] != content or not self._attempt[1]:
            self._attempt = content, fresh(self._chance)
        await self._writer.write(self._attempt[1], content, WRITE_SECONDS)
        self._held, self._attempt = content, (b"", "")
        log.info("published %d bytes of the state file", len(content))

    async def _show(self) -> None:
        """Have the file hold what the newest block holds."""
        newest = self.store.chain.newest_client
        missing = self._held is not None and await self._worker(self.file.stamp) is None
        if not newest or (newest == self._file_block and not missing):
            return
        payload = (await self.store.get(newest)).payload
        if payload != self._held or missing or await self._read() != payload:
            await self._worker(lambda: self.file.write(payload))
            self._stamp = await self._worker(self.file.stamp)
        self._held, self._file_block = payload, newest

    async def _read(self) -> bytes | None:
        return await self._worker(self.file.read)

    def _complain(self, text: str) -> None:
        """Say what is wrong, once."""
        if text != self._complaint:
            log.warning("state file: %s", text)
        self._complaint = text
