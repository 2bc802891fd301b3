"""Manifests as users keep them: files, folders, stdin, and lists in them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from quintant.core.errors import ConfigError
from quintant.core.yaml import load_all

SUFFIXES = (".yaml", ".yml", ".json")
STDIN = "-"
MOST_BYTES = 32 * 1024 * 1024
"""Of one file: what is larger is no manifest."""
JsonObject = dict[str, Any]


class Manifest(Struct, frozen=True):
    """An object to be, and the file that has it."""

    obj: JsonObject
    origin: str

    @property
    def api_version(self) -> str:
        return str(self.obj["apiVersion"])

    @property
    def kind(self) -> str:
        return str(self.obj["kind"])

    @property
    def name(self) -> str:
        return str(self.obj["metadata"]["name"])

    @property
    def namespace(self) -> str:
        return str(self.obj["metadata"].get("namespace") or "")


def read_manifests(paths: Iterable[Path], *, recursive: bool = False) -> list[Manifest]:
    """The objects of files and folders, `-` is stdin; ConfigError names what is none."""
    found = [
        manifest
        for path in paths
        for file in _files(path, recursive)
        for manifest in parse_manifests(_text(file), str(file))
    ]
    if not found:
        raise ConfigError("there is no object in what was given", hint="-f FILE, or -f - for stdin")
    return found


def parse_manifests(text: bytes, origin: str) -> Iterator[Manifest]:
    """The objects in a text, those of lists among them."""
    for document in load_all(text, origin):
        yield from _objects(document, origin)


def _files(path: Path, recursive: bool) -> list[Path]:
    if str(path) == STDIN or path.is_file():
        return [path]
    if not path.is_dir():
        raise ConfigError(f"there is no file {path}", hint="-f FILE, -f FOLDER, or -f - for stdin")
    files = path.rglob("*") if recursive else path.iterdir()
    return sorted(file for file in files if file.suffix in SUFFIXES and file.is_file())


def _text(path: Path) -> bytes:
    try:
        if str(path) == STDIN:
            text = sys.stdin.buffer.read(MOST_BYTES + 1)
        else:
            with path.open("rb") as file:
                text = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"cannot read {path}", because=error.strerror or str(error)) from error
    if len(text) > MOST_BYTES:
        raise ConfigError(f"cannot read {path}", because=f"it has more than {MOST_BYTES} bytes")
    return text


def _objects(document: Any, origin: str) -> Iterator[Manifest]:
    if isinstance(document, dict) and str(document.get("kind")).endswith("List"):
        items = document.get("items")
        if isinstance(items, list):
            for item in items:
                yield from _objects(item, origin)
            return
    if complaint := _complaint(document):
        raise ConfigError(f"{origin} has something that is no object", because=complaint)
    yield Manifest(document, origin)


def _complaint(document: Any) -> str:
    if not isinstance(document, dict):
        return "it is no mapping"
    for field in ("apiVersion", "kind"):
        if not isinstance(document.get(field), str) or not document[field]:
            return f"it has no {field}"
    metadata = document.get("metadata")
    if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
        return f"its {document['kind']} has no metadata.name"
    return "" if metadata["name"] else f"its {document['kind']} has no metadata.name"
