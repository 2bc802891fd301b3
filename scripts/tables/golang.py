"""Running the Go program: the types of Kubernetes' kinds, and samples of them."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from foreign.errors import announce
from foreign.go import Go

SOURCES = ("go.mod", "go.sum", "*.go")


def reflect(what: str) -> Any:
    """What the Go program prints: `types` or `samples`."""
    instead = "leave the tables as they are"
    go = Go.find(os.environ, announce, what="the tables of kinds", instead=instead)
    # In a folder of its own, because Go leaves its temporary files where it is run.
    with tempfile.TemporaryDirectory() as folder:
        for pattern in SOURCES:
            for source in Path(__file__).parent.glob(pattern):
                shutil.copy(source, folder)
        printed = go.run("run", "-v", ".", what, folder=Path(folder), title=f"reflecting {what}")
    return msgspec.json.decode(printed)
