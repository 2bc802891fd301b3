"""A server of its own for every run: a command that starts one, and says where it is.

    python -m envtest up --controllers      prints `export KUBECONFIG=…` once it answers

What it starts is ended with it, however we end (`foreign.keeper`). Its temporary files are in a
folder of ours, which goes with it.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import sys
import tempfile
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from quintant.cluster.kubelet.process.orphans import process_mark
from quintant.core.errors import ConfigError
from quintant.testing.explore.foreign.program import (
    CUT_LINE,
    KEEPER,
    LAST_LINES,
    LONGEST_LINE,
    PREFIX,
)

START_SECONDS = 180.0
"""Real seconds until it has said where its server is."""
VARIABLE = "KUBECONFIG="


def server_words(text: str) -> tuple[str, ...]:
    """The words of a command that starts a server; ConfigError if it cannot be run."""
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise _unusable(text, str(error)) from None
    if not words or shutil.which(words[0]) is None:
        raise _unusable(text, f"there is no program {words[0]}" if words else "it is empty")
    return words


@asynccontextmanager
async def running_server(words: tuple[str, ...], pace: float) -> AsyncIterator[Path]:
    """Start a server, and end it with the context; yields its kubeconfig.

    `pace` is how many seconds of the loop a real one has.
    """
    folder = tempfile.mkdtemp(prefix=f"{PREFIX}{process_mark()}-")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-S", KEEPER, folder, *words),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**os.environ, "TMPDIR": folder},
        start_new_session=True,
        limit=LONGEST_LINE,
    )
    output: deque[str] = deque(maxlen=LAST_LINES)
    assert process.stdin is not None, "it is a pipe"
    assert process.stdout is not None, "it is a pipe"
    reading = asyncio.create_task(_kubeconfig(process.stdout, output))
    try:
        try:
            found = await asyncio.wait_for(asyncio.shield(reading), START_SECONDS * pace)
        except TimeoutError:
            found = None
        if found is None:
            raise _no_server(words, output)
        rest = asyncio.create_task(_drain(process.stdout))
        yield found
        rest.cancel()
    finally:
        reading.cancel()
        process.stdin.close()
        await process.wait()


async def _kubeconfig(lines: asyncio.StreamReader, output: deque[str]) -> Path | None:
    """The kubeconfig that a command tells of; None if it ends without."""
    while raw := await lines.readline():
        line = raw.decode("utf-8", "replace").strip()
        output.append(line[:CUT_LINE])
        if found := named_kubeconfig(line):
            return found
    return None


def named_kubeconfig(line: str) -> Path | None:
    """The file that a line as for a shell names; None if it names none, or none that is there."""
    try:
        words = shlex.split(line)
    except ValueError:
        return None
    paths = [Path(each.removeprefix(VARIABLE)) for each in words if each.startswith(VARIABLE)]
    return next((each for each in paths if each.is_file()), None)


async def _drain(lines: asyncio.StreamReader) -> None:
    while await lines.read(LONGEST_LINE):
        pass


def _no_server(words: tuple[str, ...], output: deque[str]) -> ConfigError:
    printed = "; ".join(output) or "it printed nothing"
    return ConfigError(
        f"cannot start a server with {shlex.join(words)}",
        because=f"it has not printed {VARIABLE}… with a file that is there; it printed: {printed}",
        hint=f"it prints `export {VARIABLE}/path` once the server answers, and runs on",
    )


def _unusable(text: str, why: str) -> ConfigError:
    return ConfigError(
        f"cannot start a server with {text!r}",
        because=why,
        hint="--server 'COMMAND': it starts an API server and prints `export KUBECONFIG=/path`",
    )
