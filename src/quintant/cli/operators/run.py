"""`quintant run`: the controllers of a module or file, or handlers of kopf, against any cluster."""

from __future__ import annotations

from typing import Any

import click

from quintant.cli.operators.serve_flags import flags

KOPF_ONLY = ("standalone", "peering", "priority", "liveness")
"""Options that mean something for kopf's handlers alone."""
KOPF_TOO = frozenset({"kubeconfig", "context", "namespaces", "log_level", "log_format"})
"""Options of every manager that mean the same for them."""
_USUAL = {"install_crds": False, "log_level": "info", "log_format": "auto"}


@click.command("run")
@click.argument("target", metavar="MODULE_OR_FILE")
@click.option("--kopf", "of_kopf", is_flag=True, help="It has handlers of kopf: @kopf.on.create.")
@click.option("--standalone", is_flag=True, help="With --kopf: without peers.")
@click.option("--peering", metavar="NAME", help="With --kopf: among these peers.")
@click.option("--priority", type=int, help="With --kopf: the peer with the highest one works.")
@click.option("--liveness", metavar="URL", help="With --kopf: where probe handlers are answered.")
@flags
def command(target: str, of_kopf: bool, **given: Any) -> None:
    """Run the controllers of a module or file until Ctrl-C.

    The file declares a Manager; it runs against the cluster of your kubeconfig, or inside one.
    """
    own = {name: given.pop(name) for name in KOPF_ONLY}
    if not of_kopf:
        if wrong := [name for name, value in own.items() if value not in (None, False)]:
            raise click.UsageError(f"--{wrong[0]} is for --kopf alone")
        from quintant.cli.operators.serve import serve
        from quintant.runtime.manager.loading import load_manager

        serve(lambda: load_manager(target), **given)
        return
    wrong = [
        name for name, value in given.items() if name not in KOPF_TOO and _is_given(name, value)
    ]
    if wrong:
        raise click.UsageError(f"--{wrong[0].replace('_', '-')} means nothing with --kopf")
    from quintant.cli.operators.run_kopf import run_kopf

    run_kopf(target, **own, **{name: given[name] for name in KOPF_TOO})


def _is_given(name: str, value: Any) -> bool:
    return value not in (None, (), False) and value != _USUAL.get(name)
