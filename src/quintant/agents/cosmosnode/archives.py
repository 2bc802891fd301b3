"""Archives: a document out of one, or the data of a snapshot; what leaves its folder is refused.

    .json, .json.gz, .zip                       of a document
    .tar, .tar.gz, .tar.gzip                    of both
    .tar.lz4, .tar.zst                          of snapshots; with the extra `cosmos`

An archive that ends too early is refused: a tar ends with two empty blocks, whatever packed it.
"""

from __future__ import annotations

import gzip
import io
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from quintant.agents.cosmosnode.last_words import NodeToolError
from quintant.agents.cosmosnode.snapshot_entries import REFUSED, extract_entry

DOCUMENTS = (".json.gz", ".json", ".tar.gz", ".tar.gzip", ".tar", ".zip")
SNAPSHOTS = (".tar.lz4", ".tar.zst", ".tar.gzip", ".tar.gz", ".tar")
_END = 1024
"""Zero bytes with which every tar ends."""
_WINDOW = 2**31
"""Snapshots are packed with long windows, to find what repeats far away."""
_BROKEN = (EOFError, zlib.error, gzip.BadGzipFile, tarfile.TarError, zipfile.BadZipFile)


def kind_of(name: str, kinds: tuple[str, ...]) -> str:
    """What the end of a name says an archive is; NodeToolError if that is none of these."""
    found = next((each for each in kinds if name.lower().endswith(each)), "")
    if not found:
        raise NodeToolError(
            f"cannot use {name or 'a URL without a name'}",
            "it is an archive of an unknown type",
            f"one that ends with {', '.join(kinds)}",
        )
    return found


def extract_document(archive: Path, kind: str, wanted: str, target: Path) -> None:
    """The document of an archive, as a file."""
    with _explained(archive), target.open("wb") as made:
        if kind == ".json":
            with archive.open("rb") as file:
                shutil.copyfileobj(file, made)
        elif kind == ".json.gz":
            with gzip.open(archive) as unpacked:
                shutil.copyfileobj(unpacked, made)
        elif kind == ".zip":
            with zipfile.ZipFile(archive) as files:
                name = _document(files.namelist(), wanted)
                with files.open(name) as file:
                    shutil.copyfileobj(file, made)
        else:
            _document_of_tar(archive, kind, wanted, made)


def extract_all(archive: Path, kind: str, folder: Path, taken: Collection[str]) -> None:
    """The folders of a tar that are taken, below a folder; NodeToolError if an entry is hostile."""
    with _explained(archive), _unpacked(archive, kind) as stream:
        # By hand: the filters of tarfile came with Python 3.11.4, and Debian 12 has 3.11.2.
        with tarfile.open(fileobj=stream, mode="r|") as tar:
            for member in tar:
                extract_entry(tar, member, folder, taken)
        stream.finish()


def _document_of_tar(archive: Path, kind: str, wanted: str, made: IO[bytes]) -> None:
    with _unpacked(archive, kind) as stream:
        found = False
        with tarfile.open(fileobj=stream, mode="r|") as tar:
            for member in tar:
                named = Path(member.name).name
                if not found and member.isfile() and named in (wanted, Path(wanted).name):
                    content = tar.extractfile(member)
                    assert content is not None, "a regular file has content"
                    shutil.copyfileobj(content, made)
                    found = True
        stream.finish()
    if not found:
        raise NodeToolError(REFUSED, f"there is no {wanted} in it")


def _document(names: list[str], wanted: str) -> str:
    for name in names:
        if Path(name).name == wanted:
            return name
    raise NodeToolError(REFUSED, f"there is no {wanted} in it")


class _Tar(io.RawIOBase):
    """An unpacked tar that knows how it ended."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source, self._tail = source, b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        piece = self._source.read(size)
        self._tail = (self._tail + piece)[-_END:]
        return piece

    def finish(self) -> None:
        """Read to the end; EOFError if that is not the end of a tar."""
        while self.read(1 << 20):
            pass
        if self._tail != bytes(_END):
            raise EOFError("it ends too early")


@contextmanager
def _unpacked(archive: Path, kind: str) -> Iterator[_Tar]:
    with archive.open("rb") as file:
        yield _Tar(_unpacker(file, kind))


def _unpacker(file: IO[bytes], kind: str) -> IO[bytes]:
    try:
        match kind:
            case ".tar.lz4":
                import lz4.frame

                return cast(IO[bytes], lz4.frame.open(file))
            case ".tar.zst":
                import zstandard

                unpacker = zstandard.ZstdDecompressor(max_window_size=_WINDOW)
                return cast(IO[bytes], unpacker.stream_reader(file, read_across_frames=True))
    except ImportError as error:
        from quintant.origin import install_hint

        raise NodeToolError(
            f"cannot unpack {kind}",
            f"it needs the module {error.name}, which is not installed",
            install_hint("cosmos"),
        ) from None
    return file if kind == ".tar" else cast(IO[bytes], gzip.open(file))


@contextmanager
def _explained(archive: Path) -> Iterator[None]:
    try:
        yield
    except _BROKEN as error:
        raise NodeToolError(REFUSED, f"it is damaged, or breaks off: {error}") from None
    except (ValueError, OverflowError) as error:  # headers that no program writes
        raise NodeToolError(REFUSED, f"it is damaged: {error}") from None
    except OSError as error:
        raise NodeToolError(REFUSED, f"it cannot be unpacked: {error.strerror or error}") from None
    except (RuntimeError, NotImplementedError) as error:  # what lz4 raises, and encrypted zips
        raise NodeToolError(REFUSED, f"it is damaged: {error}") from None
    except Exception as error:
        if type(error).__name__ != "ZstdError":
            raise
        raise NodeToolError(REFUSED, f"it is damaged: {error}") from None
