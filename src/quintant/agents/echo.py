"""A tiny web program to try a cluster with: answers, prints, and fails on request.

    quintant agent echo --port 8080
    curl ADDRESS:8080/                      who answers
    curl ADDRESS:8080/healthz               200, or 500 after /sicken, as /readyz after /unready
    curl -X POST ADDRESS:8080/exit?code=3   ends; /hang stops answering, /fill?mib=64 takes memory

What changes anything is a POST. On loopback it answers to addresses, localhost and names of the
cluster, and to no name that a web page could bring along; `--host` adds one, and lets pages of
other sites link to it. It shows neither files nor variables. Only the standard library is loaded:
it starts in a tenth of a second.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from quintant.agents.embedded_node import pod_path
from quintant.http.hosts import FORBIDDEN, foreign, from_another_site, on_loopback

ADDRESS = "QUINTANT_POD_IP"
"""Set on the embedded node: the pod's own address. In a container every address is the pod's."""
PORT = 8080
MIB = 1024 * 1024
FIELDS = 100
"""Of a head: no client has so many."""

Query = dict[str, str]
Answer = tuple[int, str]
Page = Callable[[Query], Answer]


@dataclass(frozen=True, slots=True)
class EchoRequest:
    """The head of a request, as far as this program looks at it."""

    method: str
    target: str
    fields: tuple[tuple[str, str], ...] = ()

    @property
    def path(self) -> str:
        """The path alone."""
        return urlsplit(self.target).path

    def all(self, name: str) -> list[str]:
        """The values of a field, its name in lower case."""
        return [value for each, value in self.fields if each == name]


class Echo:
    """The program's state, and what it answers."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.ill = False
        self.unready = False
        self.ballast: list[bytes] = []
        self.ending: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.began: float = time.monotonic()

    def answer(self, request: EchoRequest) -> Answer:
        """The answer to a request."""
        changes, pages = self.changes(), self.pages()
        query = dict(parse_qsl(urlsplit(request.target).query))
        if request.path in changes:
            if request.method != "POST":
                return 405, f"{request.path} changes something: POST it"
            return changes[request.path](query)
        if request.path in pages:
            return pages[request.path](query)
        return 200, self._whoami(request.path)

    def pages(self) -> dict[str, Page]:
        """What may be looked at."""
        return {
            "/healthz": lambda _: (500, "ill") if self.ill else (200, "ok"),
            "/readyz": lambda _: (200, "ok") if self.ready else (503, "not ready"),
        }

    def changes(self) -> dict[str, Page]:
        """What may be asked for by POST."""
        return {
            "/sicken": lambda _: self._set(ill=True),
            "/heal": lambda _: self._set(ill=False),
            "/unready": lambda _: self._set(unready=True),
            "/ready": lambda _: self._set(unready=False),
            "/exit": self._exit,
            "/hang": self._hang,
            "/fill": self._fill,
            "/print": self._print,
        }

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

    def _print(self, query: Query) -> Answer:
        for number in range(int(query.get("lines", "1"))):
            print(f"{query.get('text', 'line')} {number}", flush=True)
        return 200, "ok"


def main(arguments: Sequence[str]) -> None:
    """Run the program with these arguments."""
    sys.exit(asyncio.run(run(Echo, arguments)))


async def run(make: Callable[[argparse.Namespace], Echo], arguments: Sequence[str]) -> int:
    """Run an echo, or what is made of one; its exit code."""
    options = _options(arguments)
    echo, loop = make(options), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, _signalled, echo, number)
    if options.exit_after is not None:
        loop.call_later(options.exit_after, echo.end, options.code)
    for line in options.say:
        print(line, flush=True)
    for line in options.complain:
        print(line, file=sys.stderr, flush=True)
    for path, text in options.write:
        path.write_text(text)
    if options.once:
        return int(options.code)
    server = await asyncio.start_server(
        lambda reader, writer: _talk(echo, reader, writer), options.listen, options.port
    )
    async with server:
        port = server.sockets[0].getsockname()[1]
        print(f"listening on {options.listen}:{port}", flush=True)
        code = await echo.ending
    print(f"ending with {code}", flush=True)
    return code


def _written(pair: str) -> tuple[Path, str]:
    path, _, text = pair.partition("=")
    return pod_path(path), text


def _signalled(echo: Echo, number: signal.Signals) -> None:
    print(f"got {number.name}", flush=True)
    if not echo.options.stubborn:
        echo.end(0)


async def _talk(echo: Echo, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer one request on a connection."""
    try:
        request = await _read_head(reader)
        over_loopback = on_loopback(writer.get_extra_info("sockname"))
        status, text = _refusal(request, echo.options.host, over_loopback) or echo.answer(request)
        if request.path not in ("/healthz", "/readyz"):
            print(f"{request.method} {request.target} {status}", flush=True)
        body = text.encode()
        head = f"HTTP/1.1 {status} -\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()
    except (ConnectionError, ValueError):
        pass
    finally:
        writer.close()


async def _read_head(reader: asyncio.StreamReader) -> EchoRequest:
    words = (await reader.readline()).decode("latin-1").split()
    method, target = words[:2] if len(words) > 1 else ("GET", "/")
    fields: list[tuple[str, str]] = []
    while line := (await reader.readline()).decode("latin-1").strip():
        if len(fields) == FIELDS:
            raise ValueError("too many fields")
        name, _, value = line.partition(":")
        fields.append((name.strip().lower(), value.strip()))
    return EchoRequest(method, target, tuple(fields))


def _refusal(request: EchoRequest, names: Sequence[str], over_loopback: bool) -> Answer | None:
    """Why a request is not answered. With a public name, others may link to what it shows."""
    why = foreign(request.all("host"), request.all("origin"), names) if over_loopback else ""
    if why:
        return FORBIDDEN, why
    why = from_another_site(request.all("sec-fetch-site"), request.method, bool(names))
    return (FORBIDDEN, why) if why else None


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="quintant agent echo", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    listen = os.environ.get(ADDRESS) or "0.0.0.0"
    parser.add_argument("--listen", default=listen, help="address to listen on")
    parser.add_argument("--port", type=int, default=PORT)
    parser.add_argument(
        "--host", action="append", default=[], help="another name it is asked by on loopback"
    )
    parser.add_argument(
        "--ready-after", type=float, default=0.0, help="seconds until /readyz is ok"
    )
    parser.add_argument("--exit-after", type=float, help="seconds until it ends by itself")
    parser.add_argument("--code", type=int, default=0, help="exit code of --exit-after and --once")
    parser.add_argument("--once", action="store_true", help="print, and end at once")
    parser.add_argument("--stubborn", action="store_true", help="do not end on SIGTERM")
    parser.add_argument("--say", action="append", default=[], help="print a line at the start")
    parser.add_argument("--write", type=_written, action="append", default=[], metavar="PATH=TEXT")
    parser.add_argument("--complain", action="append", default=[], help="the same, to stderr")
    return parser.parse_args(arguments)
