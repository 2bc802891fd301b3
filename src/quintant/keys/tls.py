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
from typing import IO

from msgspec import Struct

from quintant.keys.sensitive import Sensitive

MEMFD = hasattr(os, "memfd_create")


class KeyPair(Struct, frozen=True):
    """A certificate, with the certificates above it, and its key; all PEM."""

    certificate: Sensitive[bytes]
    key: Sensitive[bytes]


def load_key_pair(context: ssl.SSLContext, pair: KeyPair) -> None:
    """Make a context show this certificate; handshakes that begin from now on do.

    Raises ssl.SSLError when the two cannot be read or do not belong together, and then leaves the
    context half changed: one that already serves should be spared that with `check_key_pair`.
    """
    with memory_file(pair.certificate) as certificate, memory_file(pair.key) as key:
        # An empty password: OpenSSL would ask the terminal for that of an encrypted key.
        context.load_cert_chain(certificate, key, password="")


def check_key_pair(pair: KeyPair) -> None:
    """Raise ssl.SSLError unless certificate and key can be read and belong together."""
    load_key_pair(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), pair)


@contextmanager
def memory_file(content: Sensitive[bytes]) -> Iterator[str]:
    """A path under which OpenSSL can read the content while the context lasts."""
    with _file() as file:
        file.write(content.reveal())
        file.flush()
        yield f"/proc/self/fd/{file.fileno()}" if MEMFD else file.name


def _file() -> IO[bytes]:
    if MEMFD:
        return os.fdopen(os.memfd_create("pem", os.MFD_CLOEXEC), "wb")
    return tempfile.NamedTemporaryFile()  # readable by its owner alone, gone when closed
