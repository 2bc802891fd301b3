"""`quintant klight`: the controller with the flags of its original, and a look at its networks.

    quintant klight -inCluster=true --probe-interval 5s      the controller
    quintant klight get networks                             see networks.py

Whatever does not begin with a command's name is flags in the style of Go.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from msgspec.structs import replace

from quintant.cli.operators.networks import COMMANDS
from quintant.cli.operators.pod_files import require_pod_kubeconfig
from quintant.cli.operators.serve import serve_at
from quintant.client.config.config import Config
from quintant.extras import require
from quintant.operators import klight
from quintant.operators.klight.options import Flags, from_arguments
from quintant.runtime.manager.manager import Manager
from quintant.runtime.observe import logs

NAME = "klight-controller"
"""What the original's Deployment is called, and so the lease and the role."""
_HELP = ("--help", "-h")


class Either(click.Group):
    """Commands, or the flags of a program."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        flags = [] if args and args[0] in (*self.commands, *_HELP) else args
        ctx.obj = flags
        return super().parse_args(ctx, args if not flags else [])


@click.group("klight", cls=Either, commands=COMMANDS, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Run the klight controller, or look at its networks.

    Without a command, these are the flags of the original controller: -inCluster, -kubeconfig and
    -master; -namespaces, -leader-elect, -metrics and -probes; and every option of klight, such as
    -probe-interval=5s. One dash or two.
    """
    if ctx.invoked_subcommand is not None:
        return
    flags = from_arguments(ctx.obj)
    require("klight")
    logs.configure()
    serve_at(lambda: _manager(flags), lambda: _config(flags), **_settings(flags))


def _manager(flags: Flags) -> Manager:
    manager = Manager(NAME, leader_elect=True)
    klight.controllers(manager, flags.options)
    return manager


def _config(flags: Flags) -> Config:
    if flags.in_cluster:
        return Config.in_cluster()
    require_pod_kubeconfig(flags.kubeconfig)
    found = Config.load(Path(flags.kubeconfig)) if flags.kubeconfig else Config.discover()
    return replace(found, server=flags.master.rstrip("/")) if flags.master else found


def _settings(flags: Flags) -> dict[str, Any]:
    return {
        "namespaces": flags.namespaces,
        "leader_elect": flags.leader_elect,
        "metrics": flags.metrics,
        "probes": flags.probes,
    }
