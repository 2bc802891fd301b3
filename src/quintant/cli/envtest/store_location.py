"""Where the objects of an etcd of ours are kept: what it tells the kube-apiserver beside it."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, urlsplit

import msgspec

from quintant.cli.envtest.flag_set import FlagError

LOCATION = "/quintant/data-dir"
MOST_BYTES = 16 * 1024
"""Of the answer: a path, and no more."""
ANSWER_SECONDS = 5.0
START_SECONDS = 20.0
"""How long etcd may take to answer: a real kube-apiserver gives up after as long."""
POLL_SECONDS = 0.1


class StoreLocation(msgspec.Struct, frozen=True):
    """The folder."""

    folder: str


def locate_store(etcd: str, prefix: str, sleep: Callable[[float], None] = time.sleep) -> Path:
    """The folder for the objects below a prefix; FlagError if no etcd of ours says one."""
    tries = int(START_SECONDS / POLL_SECONDS)
    for left in reversed(range(tries)):
        try:
            return Path(_ask(etcd).folder) / f"registry{quote(prefix, safe='')}"
        except OSError as error:
            if not left:
                raise FlagError(f"--etcd-servers={etcd}: nobody answers: {error}") from None
            sleep(POLL_SECONDS)
    raise AssertionError("the last try returns or raises")


def _ask(etcd: str) -> StoreLocation:
    url = urlsplit(etcd)
    try:
        host, port = url.hostname, url.port
    except ValueError:
        host, port = None, None
    if url.scheme != "http" or not host or not port:
        raise FlagError(f"--etcd-servers={etcd} is not supported here: http://host:port is")
    found = _fetch(host, port)
    if found is None or not Path(found.folder).is_absolute():
        raise FlagError(
            f"--etcd-servers={etcd}: that is no etcd of Quintant's: "
            "use both programs of one folder, or none"
        )
    return found


def _fetch(host: str, port: int) -> StoreLocation | None:
    """What is told there; None for anything but a location."""
    connection = http.client.HTTPConnection(host, port, timeout=ANSWER_SECONDS)
    try:
        connection.request("GET", LOCATION)
        reply = connection.getresponse()
        text = reply.read(MOST_BYTES)
        return msgspec.json.decode(text, type=StoreLocation) if reply.status == 200 else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, http.client.HTTPException):
        return None
    finally:
        connection.close()
