from __future__ import annotations

import asyncio
import errno
import gc
import os
import socket
from collections.abc import Iterator

import pytest

from quintant.agents.multiplex.program import run


@pytest.fixture(autouse=True)
def garbage() -> Iterator[None]:
    """A program decides how its garbage is collected; here it is pytest's."""
    before = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*before)


@pytest.mark.parametrize("grouped", [False, True])
def test_a_taken_port_is_told_in_three_lines(grouped: bool) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]

        async def listen(stopped: asyncio.Event) -> None:
            async with asyncio.TaskGroup():
                await asyncio.get_running_loop().create_server(asyncio.Protocol, "127.0.0.1", port)

        async def bare(stopped: asyncio.Event) -> None:
            await asyncio.get_running_loop().create_server(asyncio.Protocol, "127.0.0.1", port)

        with pytest.raises(SystemExit) as ended:
            run(listen if grouped else bare, small=True)
    what, because, attempt = str(ended.value).splitlines()
    assert (what, because[:9], attempt[:5]) == ("cannot listen", "because: ", "try: ")
    assert str(port) in because


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES])
@pytest.mark.parametrize("grouped", [False, True])
def test_a_file_that_cannot_be_written_is_told_in_three_lines(number: int, grouped: bool) -> None:
    """As in an image, whose root is read-only."""

    async def keep(stopped: asyncio.Event) -> None:
        error = OSError(number, os.strerror(number), "portal-relay")
        raise ExceptionGroup("tasks", [error]) if grouped else error

    with pytest.raises(SystemExit) as ended:
        run(keep, small=True)
    assert str(ended.value).splitlines() == [
        "cannot write portal-relay",
        f"because: {os.strerror(number)}",
        "try: mount a volume there, or name a path on one (--help names the options)",
    ]


def test_another_error_is_not_hidden() -> None:
    async def fail(stopped: asyncio.Event) -> None:
        raise FileNotFoundError("tokens.json")

    with pytest.raises(FileNotFoundError):
        run(fail, small=True)
