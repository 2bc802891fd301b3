"""The process of a lightpeer: a port, a peer behind it, and an orderly end.

SIGTERM: health says NOT_SERVING, the others are notified that this one leaves, requests under
way end, and so does the process. A second signal ends it at once.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from random import SystemRandom
from typing import Any, Final

from quintant.agents.lightpeer.disk.folder import Folder, Thread
from quintant.agents.lightpeer.disk.lock import Locked, locked
from quintant.agents.lightpeer.options import LightpeerOptions
from quintant.agents.lightpeer.peer import Effects, Peer
from quintant.agents.lightpeer.rpc.calls import Failed
from quintant.agents.lightpeer.rpc.channels import Channels, server
from quintant.agents.lightpeer.rpc.guard import Guard
from quintant.agents.lightpeer.service import LightpeerService
from quintant.agents.loops import loop_factory
from quintant.wire.lightpeer import PeerInfo

DRAIN_SECONDS = 5.0
"""How long requests under way may take at the end."""

log: Final = logging.getLogger("lightpeer")

Beside = Callable[[Peer], Coroutine[Any, Any, None]]
"""What else a program does with its peer."""


def main(options: LightpeerOptions, beside: Beside | None = None) -> None:
    """Run a peer until a signal ends it."""
    logging.basicConfig(
        level=logging.DEBUG if options.verbose else logging.INFO,
        format="%(asctime)s %(levelname)s %(message)s",
        stream=sys.stderr,
    )
    logging.getLogger("asyncio").setLevel(logging.WARNING)
    logging.getLogger("grpc").setLevel(logging.ERROR)
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    try:
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            runner.run(_run(options, beside))
    except Locked as error:
        sys.exit(str(error))
    except OSError as error:
        sys.exit(
            f"cannot run a lightpeer on {options.repo}, at {options.listen}\n"
            f"because: {error}\n"
            f"try: quintant klight check {options.repo}, and whether the address is free"
        )


async def _run(options: LightpeerOptions, beside: Beside | None) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, _signalled, ended)
    async with served(options) as peer, asyncio.TaskGroup() as group:
        tasks = [group.create_task(peer.run())]
        if beside is not None:
            tasks.append(group.create_task(beside(peer)))
        await ended.wait()
        log.info("leaving")
        for task in tasks:
            task.cancel()
        await _leave(peer)


@asynccontextmanager
async def served(options: LightpeerOptions) -> AsyncIterator[Peer]:
    """A peer that answers on its port; it does not tend its network by itself yet."""
    with locked(options.repo, options.advertise):
        async with _answering(options) as peer:
            yield peer


@asynccontextmanager
async def _answering(options: LightpeerOptions) -> AsyncIterator[Peer]:
    worker, channels = Thread(), Channels()
    effects = Effects(Folder(options.repo), worker, channels, SystemRandom(), time.time)
    peer = Peer(PeerInfo(options.advertise, options.name), effects, merge=options.merge)
    with _uncollected():
        await peer.open()
    port = server(LightpeerService(peer, Guard(options.token_file)).routes())
    try:
        port.add_insecure_port(options.listen)
    except RuntimeError as error:
        raise OSError(f"cannot listen on {options.listen}") from error
    await port.start()
    log.info(
        "listening on %s as %s, %d blocks", options.listen, options.advertise, len(peer.store.chain)
    )
    try:
        yield peer
    finally:
        await port.stop(DRAIN_SECONDS)
        await peer.scope.close()
        with suppress(Failed):  # What the journal has is read from there next time.
            await peer.store.close()
        await channels.close()
        worker.close()


@contextmanager
def _uncollected() -> Iterator[None]:
    """Look for no garbage meanwhile: hundreds of thousands of links are made, and all are kept."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


async def _leave(peer: Peer) -> None:
    peer.leaving = True
    try:
        await peer.leave()
    except Failed as failure:
        log.warning("left without telling everybody: %s", failure.text)


def _signalled(ended: asyncio.Event) -> None:
    if ended.is_set():
        os._exit(1)
    ended.set()
