"""Which folder objects are in: an etcd of ours says it, and nobody else is believed."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from quintant.cli.envtest.flag_set import FlagError
from quintant.cli.envtest.store_location import locate_store


@contextmanager
def answering(body: bytes, status: int = 200) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing is printed."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_every_prefix_has_a_folder_of_its_own() -> None:
    with answering(b'{"folder":"/data"}') as url:
        assert locate_store(url, "/registry") == Path("/data/registry%2Fregistry")
        assert locate_store(url, "/../x") == Path("/data/registry%2F..%2Fx")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"folder":"/data"}', 404),
        (b'{"folder":"relative"}', 200),
        (b'{"folder":1}', 200),
        (b"[" * 10_000, 200),
        (b'{"folder":"/' + b"x" * 100_000, 200),
        (b"\xff", 200),
        (b"", 200),
    ],
)
def test_another_etcd_is_refused_by_the_flag(body: bytes, status: int) -> None:
    with (
        answering(body, status) as url,
        pytest.raises(FlagError, match=f"--etcd-servers={url}: that is no etcd of Quintant's"),
    ):
        locate_store(url, "/registry")


@pytest.mark.parametrize(
    "url", ["https://127.0.0.1:1", "http://127.0.0.1", "nonsense", "http://a:b"]
)
def test_only_plain_addresses_are_dialled(url: str) -> None:
    with pytest.raises(FlagError, match="http://host:port is"):
        locate_store(url, "/registry")


def test_an_etcd_that_is_not_there_is_waited_for_and_then_named() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    waits: list[float] = []
    with pytest.raises(FlagError, match=f"--etcd-servers={url}: nobody answers"):
        locate_store(url, "/registry", waits.append)
    assert sum(waits) > 10
