"""A tiny web program to try a cluster with: answers, prints, and fails on request.

    quintant agent echo --port 8080
    curl ADDRESS:8080/              who answers
    curl ADDRESS:8080/healthz       200, or 500 after /sicken, as /readyz after /unready
    curl ADDRESS:8080/exit?code=3   ends; /hang stops answering, /fill?mib=64 takes memory

Only the standard library is loaded: it starts in a tenth of a second.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from urllib.parse import parse_qsl, urlsplit

ADDRESS = "QUINTANT_POD_IP"
"""Set on the embedded node: the pod's own address. In a container every address is the pod's."""
PORT = 8080
MIB = 1024 * 1024

Query = dict[str, str]
Answer = tuple[int, str]


class Echo:
    """The program's state, and what it answers."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.ill = False
        self.unready = False
        self.ballast: list[bytes] = []
        self.ending: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.began = time.monotonic()

    def answer(self, path: str, query: Query) -> Answer:
        """The answer to a request."""
        do: dict[str, Callable[[Query], Answer]] = {
            "/healthz": lambda _: (500, "ill") if self.ill else (200, "ok"),
            "/readyz": lambda _: (200, "ok") if self.ready else (503, "not ready"),
            "/sicken": lambda _: self._set(ill=True),
            "/heal": lambda _: self._set(ill=False),
            "/unready": lambda _: self._set(unready=True),
            "/ready": lambda _: self._set(unready=False),
            "/exit": self._exit,
            "/hang": self._hang,
            "/fill": self._fill,
            "/spawn": self._spawn,
            "/print": self._print,
            "/env": lambda asked: (200, os.environ.get(asked.get("name", ""), "")),
            "/read": self._read,
        }
        return do[path](query) if path in do else (200, self._whoami(path))

    @property
    def ready(self) -> bool:
        late = time.monotonic() - self.began >= self.options.ready_after
        return late and not self.unready

    def end(self, code: int) -> None:
        """End the program soon."""
        if not self.ending.done():
            self.ending.set_result(code)

    def _whoami(self, path: str) -> str:
        names = ("HOSTNAME", ADDRESS)
        who = {name.lower(): os.environ.get(name, "") for name in names}
        return json.dumps({"path": path, "pid": os.getpid(), **who})

    def _set(self, **changes: bool) -> Answer:
        vars(self).update(changes)
        return 200, "ok"

    def _exit(self, query: Query) -> Answer:
        self.end(int(query.get("code", "0")))
        return 200, "bye"

    def _hang(self, query: Query) -> Answer:
        # The whole program: that is what a probe has to notice.
        time.sleep(float(query.get("seconds", "3600")))
        return 200, "back"

    def _fill(self, query: Query) -> Answer:
        self.ballast.append(os.urandom(int(query.get("mib", "1")) * MIB))
        return 200, "full"

    def _spawn(self, query: Query) -> Answer:
        apart = query.get("apart") == "yes"
        child = subprocess.Popen(["sleep", "3600"], start_new_session=apart)
        return 200, str(child.pid)

    def _print(self, query: Query) -> Answer:
        for number in range(int(query.get("lines", "1"))):
            print(f"{query.get('text', 'line')} {number}", flush=True)
        return 200, "ok"

    def _read(self, query: Query) -> Answer:
        root = os.environ.get("QUINTANT_ROOT", "")
        try:
            with open(f"{root}{query.get('path', '')}") as file:
                return 200, file.read()
        except OSError as error:
            return 404, str(error)


def main(arguments: Sequence[str]) -> None:
    """Run the program with these arguments."""
    sys.exit(asyncio.run(_serve(_options(arguments))))


async def _serve(options: argparse.Namespace) -> int:
    echo = Echo(options)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, _signalled, echo, number)
    if options.exit_after is not None:
        loop.call_later(options.exit_after, echo.end, options.code)
    for line in options.say:
        print(line, flush=True)
    for line in options.complain:
        print(line, file=sys.stderr, flush=True)
    for pair in options.write:
        _write(*pair.split("=", 1))
    if options.once:
        return int(options.code)
    server = await asyncio.start_server(
        lambda reader, writer: _talk(echo, reader, writer), options.listen, options.port
    )
    async with server:
        print(f"listening on {options.listen}:{options.port}", flush=True)
        code = await echo.ending
    print(f"ending with {code}", flush=True)
    return code


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def _signalled(echo: Echo, number: signal.Signals) -> None:
    print(f"got {number.name}", flush=True)
    if not echo.options.stubborn:
        echo.end(0)


async def _talk(echo: Echo, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer one request on a connection."""
    try:
        line = (await reader.readline()).decode("latin-1").split()
        while (await reader.readline()).strip():
            pass
        target = urlsplit(line[1] if len(line) > 1 else "/")
        status, text = echo.answer(target.path, dict(parse_qsl(target.query)))
        if target.path not in ("/healthz", "/readyz"):
            print(f"{' '.join(line[:2])} {status}", flush=True)
        body = text.encode()
        head = f"HTTP/1.1 {status} -\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()
    except (ConnectionError, ValueError):
        pass
    finally:
        writer.close()


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="quintant agent echo", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    listen = os.environ.get(ADDRESS) or "0.0.0.0"
    parser.add_argument("--listen", default=listen, help="address to listen on")
    parser.add_argument("--port", type=int, default=PORT)
    parser.add_argument(
        "--ready-after", type=float, default=0.0, help="seconds until /readyz is ok"
    )
    parser.add_argument("--exit-after", type=float, help="seconds until it ends by itself")
    parser.add_argument("--code", type=int, default=0, help="exit code of --exit-after and --once")
    parser.add_argument("--once", action="store_true", help="print, and end at once")
    parser.add_argument("--stubborn", action="store_true", help="do not end on SIGTERM")
    parser.add_argument("--say", action="append", default=[], help="print a line at the start")
    parser.add_argument("--write", action="append", default=[], help="PATH=TEXT to write a file")
    parser.add_argument("--complain", action="append", default=[], help="the same, to stderr")
    return parser.parse_args(arguments)
