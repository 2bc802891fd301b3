"""Certificates and keys into an SSLContext without leaving a key on disk.

OpenSSL reads them from files only. So the PEM text goes into a file that lives in memory and has
no name in any directory, and OpenSSL reads it through the process's own descriptor. Where the
system has no such files (it is not Linux), a private file exists for the moment of the reading.
"""

from __future__ import annotations

import os
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO

MEMFD = hasattr(os, "memfd_create")


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate chain and its private key, both PEM; the key never shows in a repr."""

    chain: bytes
    key: bytes = field(repr=False)


def load_pair(context: ssl.SSLContext, pair: Pair) -> None:
    """Make a context present this certificate; handshakes begun from now on do.

    Raises ssl.SSLError when the two do not belong together or cannot be read; a context that
    already serves should be spared that (`check_pair`), for it is left half changed.
    """
    with memory_file(pair.key + b"\n" + pair.chain) as path:
        # Without a password OpenSSL would ask for one on the terminal, if the key has one.
        context.load_cert_chain(path, password="")


def check_pair(pair: Pair) -> None:
    """Raise ssl.SSLError unless chain and key can be read and belong together."""
    load_pair(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), pair)


@contextmanager
def memory_file(content: bytes) -> Iterator[str]:
    """A path to `content` that only this process can open, for the time of the context."""
    with _file() as file:
        file.write(content)
        file.flush()
        yield f"/proc/self/fd/{file.fileno()}" if MEMFD else file.name


def _file() -> IO[bytes]:
    if MEMFD:
        return os.fdopen(os.memfd_create("quintant", os.MFD_CLOEXEC), "wb")
    return tempfile.NamedTemporaryFile()  # readable by its owner alone, gone when closed
