"""Files that a user gives to a cluster: YAML, of a declared shape."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec

from quintant.core.errors import ConfigError
from quintant.core.yaml import load_all

M = TypeVar("M")


def read_documents(
    path: Path, model: type[M], refusal: Callable[[Path, str], ConfigError]
) -> list[M]:
    """The documents of a file; what `refusal` makes of the reason if they cannot be read."""
    try:
        return [msgspec.convert(each, model) for each in load_all(path.read_bytes(), str(path))]
    except OSError as error:
        raise refusal(path, error.strerror or str(error)) from error
    except msgspec.ValidationError as error:
        raise refusal(path, str(error)) from error
