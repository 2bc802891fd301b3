"""`quintant klight`: the klight controller with the flags of its original, in the style of Go."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from quintant.cli.serving import serve_at
from quintant.operators import klight
from quintant.operators.klight.flags import Flags, from_arguments
from quintant.runtime import logs
from quintant.runtime.client.config import Config
from quintant.runtime.manager import Manager

NAME = "klight-controller"
"""What the original's Deployment is called, and so the lease and the role."""


@click.command(
    "klight",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    add_help_option=False,
)
@click.help_option("--help")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[-FLAG=VALUE]...")
def command(arguments: tuple[str, ...]) -> None:
    """Run the klight controller with the flags of its original.

    These are -inCluster, -kubeconfig and -master; -namespaces, -leader-elect, -metrics and -probes;
    and every option of klight, such as -probe-interval=5s. One dash or two.
    """
    flags = from_arguments(arguments)
    logs.configure()
    serve_at(lambda: _manager(flags), lambda: _config(flags), **_settings(flags))


def _manager(flags: Flags) -> Manager:
    manager = Manager(NAME)
    klight.controllers(manager, flags.options)
    return manager


def _config(flags: Flags) -> Config:
    if flags.in_cluster:
        return Config.in_cluster()
    found = Config.load(Path(flags.kubeconfig)) if flags.kubeconfig else Config.discover()
    return replace(found, server=flags.master.rstrip("/")) if flags.master else found


def _settings(flags: Flags) -> dict[str, Any]:
    return {
        "namespaces": flags.namespaces,
        "leader_elect": flags.leader_elect,
        "metrics": flags.metrics,
        "probes": flags.probes,
    }
