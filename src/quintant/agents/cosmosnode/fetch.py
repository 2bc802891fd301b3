"""What a new home is filled with: genesis.json, addrbook.json, the data of a snapshot.

What is there is never replaced: a genesis and a snapshot only where there are no data, an address
book only where there is none. Everything is loaded beside its place and checked; then it takes its
place at once. What a broken try left is removed by the next one. A genesis is a document, or what
the RPC of a node answers to GET /genesis.
"""

from __future__ import annotations

import mmap
import os
import shutil
from pathlib import Path

import msgspec

from quintant.agents.cosmosnode.archives import (
    DOCUMENTS,
    SNAPSHOTS,
    extract_all,
    extract_document,
    kind_of,
)
from quintant.agents.cosmosnode.chain_home import ChainHome
from quintant.agents.cosmosnode.download import DownloadSource, download, shown
from quintant.agents.cosmosnode.last_words import NodeToolError

STAGING = ".fetch"
"""A folder of the home, on its volume: only there a file takes its place at once."""
RPC_GENESIS = "genesis"
"""How the URL of a node's RPC ends that tells the genesis; one of more than 16 MB it refuses."""
_CONTRACTS = "wasm"
"""The folder of CosmWasm's programs, which belong to the state."""
_KEPT = ("priv_validator_state.json",)
"""What `init` made and a snapshot never has: who replaces it may sign twice."""


class _Document(msgspec.Struct):
    """Any JSON object: what is in it is skipped, and takes no memory."""


class _ToldGenesis(msgspec.Struct):
    """The part of an answer that is the document."""

    genesis: msgspec.Raw


class _GenesisAnswer(msgspec.Struct):
    """What a node's RPC says to GET /genesis."""

    result: _ToldGenesis


def fetch_genesis(home: ChainHome, url: str) -> str:
    """The genesis, by URL or from `init`; what was done, in words."""
    if home.has_data:
        return "there are data already"
    if url:
        return _fetch_document(home, url, home.genesis)
    made = home.pristine / "config" / home.genesis.name
    if not made.is_file():
        return "init made none"
    home.genesis.parent.mkdir(parents=True, exist_ok=True)
    part = home.genesis.with_name(f".{home.genesis.name}.part")
    shutil.copyfile(made, part)
    os.replace(part, home.genesis)
    return "taken from init"


def fetch_addrbook(home: ChainHome, url: str) -> str:
    """The address book; what was done, in words."""
    if home.addrbook.is_file():
        return "there is one already"
    return _fetch_document(home, url, home.addrbook) if url else "none is asked for"


def fetch_snapshot(home: ChainHome, url: str) -> str:
    """The data of a snapshot; what was done, in words."""
    if home.has_data:
        return "there are data already"
    if not url:
        return "none is asked for"
    source = DownloadSource.of(url)
    kind = kind_of(source.name, SNAPSHOTS)
    staging = _staging(home)
    try:
        archive, made = staging / f"archive{kind}", staging / "made"
        made.mkdir()
        download(source, archive)
        extract_all(archive, kind, made, _taken(home))
        archive.unlink()
        _take_place(made, home)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return f"restored from {shown(source.url)}"


def _fetch_document(home: ChainHome, url: str, target: Path) -> str:
    source = DownloadSource.of(url)
    is_answer = target == home.genesis and source.name == RPC_GENESIS
    kind = ".json" if is_answer else kind_of(source.name, DOCUMENTS)
    staging = _staging(home)
    try:
        archive, made = staging / "archive", staging / target.name
        download(source, archive)
        extract_document(archive, kind, target.name, made)
        if is_answer:
            _take_answer(made, source)
        _check_document(made, source)
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(made, target)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return f"loaded from {shown(source.url)}"


def _take_answer(path: Path, source: DownloadSource) -> None:
    """Replace the answer of a node by the genesis in it."""
    try:
        answer = msgspec.json.decode(path.read_bytes(), type=_GenesisAnswer)
    except (ValueError, RecursionError):
        raise NodeToolError(
            f"cannot use {shown(source.url)}",
            "it is no node's answer with a genesis in it",
            "the RPC of a node of this chain, or the URL of genesis.json",
        ) from None
    path.write_bytes(bytes(answer.result.genesis))


def _check_document(path: Path, source: DownloadSource) -> None:
    """A genesis may have hundreds of megabytes: it is looked at where it is."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            msgspec.json.decode(data, type=_Document)
    except (ValueError, RecursionError):
        raise NodeToolError(
            f"cannot use {shown(source.url)}", f"{path.name} in it is no JSON object"
        ) from None


def _staging(home: ChainHome) -> Path:
    """An empty folder on the volume."""
    staging = home.home / STAGING
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir(parents=True)
    return staging


def _take_place(made: Path, home: ChainHome) -> None:
    """Move what was unpacked into the home; `data` last, for it is what says that all is there."""
    root = _root(made)
    data = root / home.data.name
    if not any(data.glob("*.db")):
        raise NodeToolError(
            "cannot use the archive",
            f"there is no database below {home.data.name} in it",
            f"an archive whose root has the folder {home.data.name}",
        )
    for name in _KEPT:
        if (home.data / name).is_file():
            _remove(data / name)
            os.replace(home.data / name, data / name)
    for entry in (root / name for name in _taken(home)):
        if entry.is_dir():
            _remove(home.home / entry.name)
            os.replace(entry, home.home / entry.name)


def _taken(home: ChainHome) -> tuple[str, ...]:
    """What of an archive is a node's data: neither configuration nor keys nor programs."""
    return _CONTRACTS, home.data.name


def _remove(path: Path) -> None:
    """Remove a folder, a file or a link, if one is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _root(made: Path) -> Path:
    """Where the home begins in what was unpacked: at once, or below one folder."""
    entries = list(made.iterdir())
    single = len(entries) == 1 and entries[0].is_dir() and not any(entries[0].glob("*.db"))
    return entries[0] if single and not (made / "data").is_dir() else made
