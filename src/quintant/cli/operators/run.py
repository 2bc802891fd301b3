"""`quintant run`: the controllers of a module or file, against any cluster."""

from __future__ import annotations

from typing import Any

import click

from quintant.cli.operators.serve import flags, serve
from quintant.runtime.manager.loading import load_manager


@click.command("run")
@click.argument("target", metavar="MODULE_OR_FILE")
@flags
def command(target: str, **given: Any) -> None:
    """Run the controllers of a module or file until Ctrl-C.

    The file declares a Manager; it runs against the cluster of your kubeconfig, or inside one.
    """
    serve(lambda: load_manager(target), **given)
