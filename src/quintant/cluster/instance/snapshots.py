"""etcd v3Manager.Restore: the objects of a running cluster, taken away as bytes and brought back.

    GET /quintant/v1/snapshot   everything at one revision, however many writes there are meanwhile
    PUT /quintant/v1/snapshot   the objects of such bytes in place of those that there are

Bytes that are no whole snapshot are refused before anything is changed. What a start does with the
objects that it finds (addresses, its own service, its components) is done after a restore, too: the
bytes may be of another cluster.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Final

import msgspec
from msgspec import Struct

from quintant.client.rest import uninterrupted
from quintant.client.transport import ApiRequest, ApiResponse
from quintant.cluster.apiserver.kinds.stored_json import is_document
from quintant.cluster.apiserver.meta.status import bad_request, method_not_supported
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.cluster.apiserver.storage.revision_log import Snapshot
from quintant.cluster.apiserver.storage.snapshot_file import (
    MOST_BYTES,
    SnapshotInfo,
    UnusableSnapshot,
    decode_snapshot,
    encode_snapshot,
)
from quintant.core.clock import AdvancedClock, Clock, timestamp
from quintant.version import KUBERNETES

log: Final = logging.getLogger(__name__)

Stopped = Callable[[], AbstractAsyncContextManager[None]]
PATH = "/quintant/v1/snapshot"
_BYTES = {"content-type": "application/octet-stream"}


class RestoreResult(Struct, frozen=True):
    """What came of a restore."""

    objects: int
    revision: int
    """Where the cluster is now: above everything that a client has seen."""


class ClusterSnapshots(Struct, frozen=True):
    """Takes and restores snapshots of a cluster."""

    server: ApiServer
    clock: Clock
    cluster: str
    """Its name, if it has one."""
    stopped: Stopped
    """While its context lasts, nothing runs that remembers objects."""
    prepare: Callable[[], Awaitable[None]]
    """What a start does with the objects that it finds."""

    def serve(self) -> None:
        """Answer administrators who ask for it."""
        self.server.mux.handle(PATH, self.answer, MOST_BYTES)

    async def answer(self, call: ApiRequest) -> ApiResponse:
        """The reply to a request; 400 for what cannot be restored."""
        match call.method:
            case "GET":
                return ApiResponse(200, await self.save(), _BYTES)
            case "PUT":
                try:
                    result = await self.restore(call.body or b"")
                except UnusableSnapshot as error:
                    raise bad_request(f"the snapshot is refused: {error}") from None
                return ApiResponse(200, msgspec.json.encode(result))
        raise method_not_supported()

    async def save(self) -> bytes:
        """Everything as it is now; only what no crash can undo leaves."""
        server, now = self.server, timestamp(self.clock.now())
        snapshot = server.snapshot()
        await server.store.durable()
        encode = partial(
            encode_snapshot, snapshot, cluster=self.cluster, created=now, kubernetes=KUBERNETES
        )
        return await server.offload.run(encode, MOST_BYTES)

    async def restore(self, raw: bytes) -> RestoreResult:
        """Return to the objects of a snapshot; UnusableSnapshot, and nothing is changed."""
        if isinstance(self.clock, AdvancedClock) and self.clock.paused:
            raise UnusableSnapshot("the clock of the cluster is paused: quintant clock resume")
        read = partial(read_snapshot, raw)
        info, snapshot = await self.server.offload.run(read, MOST_BYTES)
        async with self.stopped():
            # A client that leaves in the middle leaves no half of it.
            await uninterrupted(self._exchange(snapshot))
        return RestoreResult(info.objects, self.server.store.revision)

    async def _exchange(self, snapshot: Snapshot) -> None:
        before = self.server.snapshot()
        try:
            await self._enter(snapshot)
        except Exception as error:
            # Its objects are a stranger's: whatever they break, the cluster goes on without them.
            await self._enter(before)
            log.warning("a snapshot was taken back", exc_info=error)
            raise UnusableSnapshot("no cluster can go on from its objects") from error

    async def _enter(self, snapshot: Snapshot) -> None:
        self.server.restore(snapshot)
        await self.prepare()


def read_snapshot(raw: bytes) -> tuple[SnapshotInfo, Snapshot]:
    """What bytes are a snapshot of; UnusableSnapshot if a server could not go on from there."""
    if not raw:
        raise UnusableSnapshot("it is empty")
    info, snapshot = decode_snapshot(raw)
    for name, table in snapshot.tables.items():
        for key, entry in table.entries.items():
            if not is_document(entry):
                raise UnusableSnapshot(f"{name} {key} is no object")
    return info, snapshot
