"""An embedded API server in a process of its own: `python server.py FOLDER`, over HTTPS.

It puts a kubeconfig into the folder, whose token is in a file beside it, and then says "ready". On
SIGUSR1 it renews the token, refuses the old one and ends every watch. `Served` runs it.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from base64 import b64encode
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from quintant.client.transport import InProcessTransport
from quintant.cluster.apiserver.meta.user import admin
from quintant.cluster.apiserver.server.https import LOOPBACK, serve
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.die_with_parent import die_with_parent
from unit.client.pki import Authority

READY = "ready"

Fill = Callable[[InProcessTransport], Awaitable[None]]
"""Puts objects into a server before anybody can see it."""


@dataclass(frozen=True, slots=True)
class Served:
    """A server that runs in another process."""

    folder: Path
    process: subprocess.Popen[str]

    @property
    def kubeconfig(self) -> Path:
        return self.folder / "kubeconfig"

    def renew(self) -> None:
        """Renew the token, and end every watch."""
        self.process.send_signal(signal.SIGUSR1)


@contextmanager
def served(folder: Path, program: Path = Path(__file__)) -> Iterator[Served]:
    """Run a server as long as the context lasts; the kernel ends it should we be killed."""
    command = die_with_parent([sys.executable, str(program), str(folder)])
    with subprocess.Popen(command, env=environ(), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == READY
        try:
            yield Served(folder, process)
        finally:
            process.terminate()


def environ() -> dict[str, str]:
    """What lets the child import what this process can."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


async def run(folder: Path, fill: Fill) -> None:
    """Fill a server, put its kubeconfig into a folder, and serve until SIGTERM."""
    server = ApiServer()
    await fill(InProcessTransport(server))
    authority, tokens = Authority(), _Tokens(server, folder / "token")
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stopped.set)
    loop.add_signal_handler(signal.SIGUSR1, tokens.renew)
    async with serve(server, ssl=authority.serving(LOOPBACK)) as url:
        tokens.renew()
        document = kubeconfig(url, authority.pem, tokens.file)
        (folder / "kubeconfig").write_text(json.dumps(document))
        print(READY, flush=True)
        await stopped.wait()


async def nothing(transport: InProcessTransport) -> None:
    """Leave the server empty."""


class _Tokens:
    """One valid token after another, in a file."""

    def __init__(self, server: ApiServer, file: Path) -> None:
        self._server, self.file = server, file
        self._number = 0

    def renew(self) -> None:
        old, self._number = f"token-{self._number}", self._number + 1
        self._server.tokens.add(f"token-{self._number}", admin())
        self.file.write_text(f"token-{self._number}")
        self._server.tokens.revoke(old)
        self._server.close()


def kubeconfig(url: str, authority: bytes, token: Path) -> dict[str, object]:
    """The kubeconfig of one cluster and one user."""
    trusted = b64encode(authority).decode()
    return {
        "current-context": "embedded",
        "contexts": [{"name": "embedded", "context": {"cluster": "embedded", "user": "admin"}}],
        "clusters": [
            {"name": "embedded", "cluster": {"server": url, "certificate-authority-data": trusted}}
        ],
        "users": [{"name": "admin", "user": {"tokenFile": str(token)}}],
    }


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1]), nothing))
