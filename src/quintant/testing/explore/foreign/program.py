"""One life of a foreign program: started, killed with all it started, its output kept.

What stands between us and the program is its keeper (`foreign.keeper`): it ends with us, and the
program with it, however we end. From the moment of its death nothing that a life sent is let in.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import shutil
import socket
import sys
import tempfile
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import dropwhile
from pathlib import Path
from typing import Final

from msgspec import Struct

from quintant.client.request_info import ResourcePath
from quintant.client.transport import ApiRequest, ApiResponse
from quintant.cluster.kubelet.process.orphans import is_alive, process_mark
from quintant.core.errors import ConfigError
from quintant.http.connection import Connection
from quintant.keys.private_files import write_private
from quintant.keys.sensitive import Sensitive
from quintant.testing.explore.foreign.process_state import is_runnable, processor_seconds

KUBECONFIG = "{kubeconfig}"
ENV = "env"
"""What sets variables for a program that has no options."""
PREFIX = "quintant-explore-"
"""What the folders of lives begin with; the mark of the process that made one follows."""
KEPT_LINES = 2000
"""Of the output of a life: the end tells why it ended."""
LONGEST_LINE = 64 * 1024
LAST_LINES = 10
"""Of the output, in an error."""
CUT_LINE = 400
_PORT = re.compile(r"\{port:([A-Za-z0-9_-]+)\}")
_FIELD = re.compile(r"\{(?!kubeconfig\}|port:)[^{}]*\}")
KEEPER = str(Path(__file__).with_name("keeper.py"))


Send = Callable[["ProgramLife", ApiRequest], Awaitable[ApiResponse]]
"""Brings a write of a life to the server."""


class ForeignCommand(Struct, frozen=True):
    """The command line of a program, with `{kubeconfig}` and `{port:NAME}` in it."""

    words: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> ForeignCommand:
        """The words of a command line as a shell splits them; ConfigError if there are none."""
        try:
            words = tuple(shlex.split(text))
        except ValueError as error:
            raise _unusable(text, str(error)) from None
        if not words:
            raise _unusable(text, "it is empty")
        for word in words:
            if found := _FIELD.search(word):
                raise _unusable(text, f"{found[0]} is neither {KUBECONFIG} nor {{port:NAME}}")
        if shutil.which(words[0]) is None:
            raise _unusable(text, f"there is no program {words[0]}")
        return cls(words)

    @property
    def program(self) -> Path:
        """The file that is run; `env` before it, with variables, is not."""
        words = self.words
        if Path(words[0]).name == ENV:
            words = tuple(dropwhile(lambda word: "=" in word, words[1:])) or words
        return Path(shutil.which(words[0]) or words[0])

    @property
    def names_ports(self) -> bool:
        """Whether each life listens at ports of its own."""
        return any(_PORT.search(word) for word in self.words)

    def line(self, kubeconfig: Path) -> list[str]:
        """The command line of one life, with free ports."""
        ports = {name: str(_free_port()) for word in self.words for name in _PORT.findall(word)}
        return [
            _PORT.sub(lambda match: ports[match[1]], word).replace(KUBECONFIG, str(kubeconfig))
            for word in self.words
        ]


class ProgramLife:
    """One life of a program; a `ManagerProcess` to the injector."""

    def __init__(self, number: int, send: Send) -> None:
        """`number` is that of the life; `send` brings a write of it to the server."""
        self.number = number
        self.index: int = 0
        self.alive: bool = True
        self.ended: Final = asyncio.Event()
        """Set once the process is gone, whoever ended it."""
        self.code: int | None = None
        """What it ended with by itself; None while it runs, or if it was killed."""
        self.inner: Final = _Inner(self, send)
        self.connections: set[Connection] = set()
        self.elections: set[ResourcePath] = set()
        """Locks that it has written."""
        self.identities: set[str] = set()
        """What it calls itself in them, as far as that could be read."""
        self.output: deque[str] = deque(maxlen=KEPT_LINES)
        self.in_flight = 0
        """Requests of it that are not answered yet, but for watches."""
        self._cut_off = False
        self._keeper: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None

    @property
    def user(self) -> str:
        """Whom its certificate names."""
        return f"quintant:life-{self.number}"

    @property
    def working(self) -> bool:
        """Whether it runs, and can be reached."""
        return self.alive and not self._cut_off

    @property
    def is_runnable(self) -> bool:
        """Whether it has something to do at this very moment."""
        return self._keeper is not None and is_runnable(self._keeper.pid)

    @property
    def processor_seconds(self) -> float:
        """How much it has had of the machine's processors."""
        return processor_seconds(self._keeper.pid) if self._keeper is not None else 0.0

    async def start(
        self, command: ForeignCommand, kubeconfig: Sensitive[bytes], variables: Mapping[str, str]
    ) -> None:
        """Start the process."""
        folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{process_mark()}-"))
        path = folder / "kubeconfig"
        write_private(path, kubeconfig.reveal())
        self._keeper = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", KEEPER, str(folder), *command.line(path)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env={**os.environ, "KUBECONFIG": str(path), **variables},
            start_new_session=True,
            limit=LONGEST_LINE,
        )
        self._reading = asyncio.create_task(self._read(self._keeper))

    def kill(self) -> None:
        """SIGKILL; nothing of this process reaches anybody from now on."""
        self.alive = False
        self.disconnect()
        if self._keeper is not None and self._keeper.stdin is not None:
            self._keeper.stdin.close()

    async def end(self) -> None:
        """Kill it, and wait until nothing of it is left."""
        self.kill()
        if self._reading is not None:
            await self._reading

    def disconnect(self) -> None:
        """Break every connection of it."""
        for connection in tuple(self.connections):
            connection.abort()
        self.connections.clear()

    def cut_off(self) -> None:
        """Nothing that it sends arrives any more, and nothing is answered; it runs on."""
        self._cut_off = True

    async def reachable(self) -> None:
        """Return if the server can be reached; else never, but for cancellation."""
        if self._cut_off:
            await asyncio.get_running_loop().create_future()

    def check(self) -> None:
        """CancelledError in whatever still runs of a process that was killed."""
        if not self.alive:
            raise asyncio.CancelledError

    def last_lines(self) -> str:
        """The end of its output, for an error."""
        lines = [line[:CUT_LINE] for line in list(self.output)[-LAST_LINES:]]
        return "; ".join(lines) or "it printed nothing"

    async def _read(self, keeper: asyncio.subprocess.Process) -> None:
        assert keeper.stdout is not None, "it is a pipe"
        rest = b""
        while piece := await keeper.stdout.read(LONGEST_LINE):
            *lines, rest = (rest + piece).split(b"\n")
            rest = rest[-LONGEST_LINE:]
            self.output.extend(line.decode("utf-8", "replace") for line in lines)
        if rest:
            self.output.append(rest.decode("utf-8", "replace"))
        code = await keeper.wait()
        if self.alive:
            self.code = code
            self.alive = False
            self.disconnect()
        self.ended.set()


class _Inner:
    """The way of its writes to the server."""

    def __init__(self, life: ProgramLife, send: Send) -> None:
        self._life, self._send = life, send

    async def request(self, call: ApiRequest) -> ApiResponse:
        return await self._send(self._life, call)


def remove_leftovers(folder: Path | None = None) -> None:
    """Remove the folders of lives whose maker was killed before their keeper ran."""
    for each in (folder or Path(tempfile.gettempdir())).glob(f"{PREFIX}*"):
        mark = each.name.removeprefix(PREFIX).rpartition("-")[0]
        if not is_alive(mark):
            shutil.rmtree(each, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def _unusable(text: str, why: str) -> ConfigError:
    return ConfigError(
        f"cannot run {text!r}",
        because=why,
        hint="--command './manager --kubeconfig {kubeconfig} --metrics-port {port:metrics}'",
    )


def joined(words: Sequence[str]) -> str:
    """A command line as a person types it."""
    return shlex.join(words)
