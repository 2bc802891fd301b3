"""The configuration of a node: what its `init` made, with the ConfigMap of its instance laid over.

Files are written anew with every start, whole or not at all. The node key is the ConfigMap's: who
changed the one on the volume did not change who the node is.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from quintant.agents.cosmosnode.chain_home import ChainHome
from quintant.agents.cosmosnode.last_words import NodeToolError
from quintant.agents.cosmosnode.pod_addresses import rewrite_addresses
from quintant.agents.cosmosnode.state_sync import Ask, with_trust
from quintant.agents.dns.resolver import ClusterResolver
from quintant.agents.embedded_node import pod_address
from quintant.wire import toml
from quintant.wire.foreign import decode_json

FILES = {"config.toml": "config-overlay.toml", "app.toml": "app-overlay.toml"}
NODE_KEY = "node_key.json"
_KEY_TYPES = ("tendermint/PrivKeyEd25519", "tendermint/PrivKeySecp256k1")


async def config_merge(home: ChainHome, environ: Mapping[str, str], ask: Ask) -> list[Path]:
    """Write the files of a node; those that were written."""
    home.config.mkdir(parents=True, exist_ok=True)
    written = []
    for name, overlay in FILES.items():
        source = home.pristine / "config" / name
        if not source.is_file():
            continue
        merged = toml.merge(read_toml(source), read_toml(home.overlays / overlay))
        target = home.config / name
        complete = await with_trust(_addressed(merged, environ), home, ask)
        write_whole(target, toml.dumps(complete).encode())
        written.append(target)
    key = home.overlays / NODE_KEY
    if key.is_file():
        write_whole(home.config / NODE_KEY, _checked_key(key), mode=0o600)
        written.append(home.config / NODE_KEY)
    return written


def merged_files(paths: Sequence[Path], environ: Mapping[str, str]) -> str:
    """Documents laid over each other, the last on top; NodeToolError if one is not there."""
    merged: dict[str, Any] = {}
    for path in paths:
        if not path.is_file():
            raise NodeToolError(f"cannot read {path}", "there is no such file")
        merged = toml.merge(merged, read_toml(path))
    return toml.dumps(_addressed(merged, environ))


def read_toml(path: Path) -> dict[str, Any]:
    """A document; an empty one if there is no file."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise NodeToolError(f"cannot read {path}", f"it is no TOML: {error}") from None


def write_whole(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    """Replace a file by another all at once, readable by whom the mode says from the start."""
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)


def _addressed(table: Mapping[str, Any], environ: Mapping[str, str]) -> Mapping[str, Any]:
    """The document for where we are; in a container it stays as it is."""
    address = pod_address(environ)
    if not address:
        return table
    names = ClusterResolver.find(environ)

    def resolve(host: str, port: int) -> tuple[str, int] | None:
        found = names.lookup(host, port) if names is not None else []
        return found[0] if found else None

    return rewrite_addresses(table, address, resolve)


def _checked_key(path: Path) -> bytes:
    """The bytes of a node key, which nobody prints."""
    data = path.read_bytes()
    try:
        kind = decode_json(data)["priv_key"]["type"]
    except (ValueError, KeyError, TypeError):
        kind = None
    if kind not in _KEY_TYPES:
        raise NodeToolError(
            f"cannot use {path.name} of the ConfigMap",
            "it holds no node key",
            "put the key back: without it the node would be another one to its peers",
        )
    return data
