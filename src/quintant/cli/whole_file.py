"""A file that a command writes at its end: whole, or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from quintant.core.errors import ConfigError


def check_writable(path: Path) -> None:
    """ConfigError if a file could not be written in the end: before anything takes long."""
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ConfigError(
            f"cannot write {path}",
            because=f"{path.parent} is no folder that can be written to",
            hint=f"mkdir -p {path.parent}",
        )


def write_whole(path: Path, content: bytes) -> None:
    """Write a file beside, and put it in place; ConfigError if that cannot be done."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_bytes(content)
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise ConfigError(f"cannot write {path}", because=error.strerror or "") from None
