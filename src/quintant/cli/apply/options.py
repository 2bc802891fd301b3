"""The options that `quintant apply` and `quintant delete` share, and how they wait."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from pathlib import Path
from typing import Any, TypeVar

import click

from quintant.cli.apply.kustomization import build
from quintant.cli.apply.manifest_files import Manifest, read_manifests
from quintant.cli.client import client_flags
from quintant.cli.slow_progress import SlowProgress
from quintant.core.options import DURATION

F = TypeVar("F", bound=Callable[..., Any])
_FLAGS = (
    click.option(
        "--filename",
        "-f",
        "files",
        multiple=True,
        type=click.Path(path_type=Path, allow_dash=True),
        help="A file, a folder, or - for stdin.",
    ),
    click.option(
        "--kustomize", "-k", type=click.Path(path_type=Path), help="A folder with a kustomization."
    ),
    click.option("--recursive", "-R", is_flag=True, help="Folders in folders, too."),
    click.option("--timeout", default="5m", show_default=True, help="Of all waiting, as 30s."),
)


def manifest_flags(command: F) -> F:
    """Give a command the flags that name manifests."""
    return client_flags(reduce(lambda made, flag: flag(made), reversed(_FLAGS), command))


def given_manifests(files: Sequence[Path], folder: Path | None, recursive: bool) -> list[Manifest]:
    """What the flags name."""
    if bool(files) == (folder is not None):
        raise click.UsageError("one of -f and -k is needed, and not both")
    return build(folder) if folder is not None else read_manifests(files, recursive=recursive)


def parse_timeout(text: str) -> float:
    """Seconds; UsageError for what is no duration."""
    try:
        return float(DURATION.parse(text))
    except ValueError:
        raise click.UsageError(f"--timeout {text}: expected a duration, as 30s") from None


def progress() -> Callable[[str], None]:
    """Say what is being waited for, when that takes longer, and then now and then."""
    return SlowProgress().say
