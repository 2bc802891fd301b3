"""Loads the numbered examples, which are programs and not importable by their names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from quintant.runtime.manager.loading import load

EXAMPLES = Path(__file__).parent.parent / "examples"


def load_example(name: str) -> Any:
    """The module of examples/<name>.py."""
    return load(str(EXAMPLES / f"{name}.py"))
