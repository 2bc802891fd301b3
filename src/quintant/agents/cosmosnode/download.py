"""A URL to a file that is whole, or no file: size and checksum are verified before anybody sees it.

Redirects are followed, never from https to http. `#sha256=…` behind a URL is what its bytes have to
add up to. A broken download leaves nothing; the next try begins anew.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urldefrag, urljoin, urlsplit

from quintant.agents.cosmosnode.http_get import FAILURES, GetTarget, opened, why
from quintant.agents.cosmosnode.last_words import NodeToolError
from quintant.http.client_connection import ClientConnection
from quintant.http.head import ResponseHead

REDIRECTS = 5
SILENT_SECONDS = 60.0
"""A server that sends nothing for that long will not."""
_MOVED = (301, 302, 303, 307, 308)
_SHA256 = re.compile(r"sha256=([0-9a-fA-F]{64})")


@dataclass(frozen=True, slots=True)
class DownloadSource:
    """What to load, and how to know that it is the right thing."""

    url: str
    sha256: str = ""

    @classmethod
    def of(cls, text: str) -> DownloadSource:
        """A URL as it stands in a spec; NodeToolError if it makes no sense."""
        url, fragment = urldefrag(text)
        found = _SHA256.fullmatch(fragment)
        if fragment and found is None:
            raise NodeToolError(
                f"cannot load {shown(url)}",
                "what follows # is no checksum",
                "end the URL with #sha256= and 64 hexadecimal digits, or without #",
            )
        try:
            GetTarget.of(url)
        except ValueError as error:
            raise NodeToolError(f"cannot load {shown(url)}", str(error)) from None
        return cls(url, found[1].lower() if found else "")

    @property
    def name(self) -> str:
        """The last part of its path: the query says nothing of what it is."""
        return urlsplit(self.url).path.rpartition("/")[2]


def shown(url: str) -> str:
    """A URL for a log: without what may be a password."""
    parts = urlsplit(url)
    address = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{address}{parts.path}" if parts.scheme else parts.path


def download(source: DownloadSource, path: Path) -> None:
    """Load a source to a path; NodeToolError, and no file, if it did not come whole. Blocks."""
    try:
        with path.open("wb") as file:
            asyncio.run(_load(source, file))
    except FAILURES as error:
        path.unlink(missing_ok=True)
        raise NodeToolError(f"cannot load {shown(source.url)}", why(error)) from None
    except BaseException:
        path.unlink(missing_ok=True)
        raise


async def _load(source: DownloadSource, file: BinaryIO) -> None:
    url = source.url
    for _ in range(REDIRECTS + 1):
        async with opened(GetTarget.of(url)) as (head, connection):
            if head.status in _MOVED:
                url = _next(source, url, head)
                continue
            if head.status != 200:
                raise NodeToolError(
                    f"cannot load {shown(source.url)}",
                    f"the server answered {head.status} {head.reason.decode('latin-1')}".rstrip(),
                )
            await _save(source, connection, file)
            return
    raise NodeToolError(f"cannot load {shown(source.url)}", "it is redirected again and again")


def _next(source: DownloadSource, url: str, head: ResponseHead) -> str:
    found = urljoin(url, head.headers.get("location", ""))
    try:
        target = GetTarget.of(found)
    except ValueError:
        raise NodeToolError(
            f"cannot load {shown(source.url)}", "it is redirected to what is no URL"
        ) from None
    if GetTarget.of(url).secured and not target.secured:
        raise NodeToolError(
            f"cannot load {shown(source.url)}", "it is redirected from https to http"
        )
    return found


async def _save(source: DownloadSource, connection: ClientConnection, file: BinaryIO) -> None:
    """Write what comes; a body that is shorter than it was said to be is a broken connection."""
    digest = hashlib.sha256()
    while True:
        async with asyncio.timeout(SILENT_SECONDS):
            piece = await connection.read()
        if not piece:
            break
        digest.update(piece)
        file.write(piece)
    if source.sha256 and digest.hexdigest() != source.sha256:
        raise NodeToolError(
            f"cannot use {shown(source.url)}",
            f"its sha256 is {digest.hexdigest()}, not {source.sha256}",
            "compare the URL with its publisher's",
        )
