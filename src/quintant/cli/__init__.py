"""`quintant`, the command line: one module per command, loaded when it is asked for.

A new command is a module here or in a room of this folder, with a click command named `command`,
and a line in COMMANDS (of a room also in _ROOMS); help is written from that table, so that
`quintant --help` loads no command at all. Modules of commands import nothing of an extra: their
help is shown without, and whatever else they do says first which one is missing. Errors that the
runtime explains are shown as it explains them: what failed, because, try.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import click

from quintant.core.errors import QuintantError
from quintant.core.gc import gc_disabled
from quintant.extras import NEEDED_BY, missing, require
from quintant.origin import install_hint
from quintant.version import KUBERNETES, QUINTANT

__all__ = ["COMMANDS", "main"]

COMMANDS = {
    "agent": "Run a program that pods are made of.",
    "apply": "Apply manifests by server-side apply.",
    "check": "Name the objects of a data directory that are damaged.",
    "clock": "Look at the clock of a running cluster, or change it.",
    "clusters": "List the clusters that were started with a name.",
    "completion": "Print the completion script of a shell.",
    "console": "Show a cluster on a web page, live.",
    "cosmos": "Look at what a change of a CosmosFullNode would do.",
    "crd": "Print CustomResourceDefinitions, or compare two versions.",
    "delete": "Delete the objects of manifests.",
    "demo": "Show every operator at work on an embedded cluster.",
    "describe": "Show objects in full, and what happened to them.",
    "doctor": "Say what is wrong with this set-up, and what to do.",
    "down": "Stop a cluster that was started with a name.",
    "envtest": "Stand in for the etcd and kube-apiserver of envtest.",
    "explore": "Disturb scenarios at every point, each in a run of its own.",
    "finalizers": "Let objects go that wait for a controller which is no more.",
    "fork": "Start a second cluster from the state of one that runs.",
    "get": "Show objects, in the columns that the server prints.",
    "infra": "Look at Clusters, and at what a change of one would do.",
    "klight": "Run the klight controller, or look at its networks.",
    "logs": "Show what a pod prints, or the first one of a Deployment.",
    "manifests": "Print what kubectl apply needs to install a program.",
    "new": "Make a project with a controller that runs, in a new folder.",
    "operator": "Run one of Quintant's own operators until Ctrl-C.",
    "preview": "Show what a version of an operator would do, without doing it.",
    "record": "Write every change of a cluster into a file.",
    "replay": "Open a recorded cluster as it was at a revision.",
    "restore": "Have a running cluster return to a snapshot.",
    "run": "Run the controllers of a module or file until Ctrl-C.",
    "shards": "Show which replica of a sharded program works on what.",
    "simulate": "Simulate days of a cluster with all operators, in minutes.",
    "snapshot": "Keep everything that is in a running cluster, under a name.",
    "snapshots": "List the snapshots that were kept.",
    "up": "Run an embedded cluster until Ctrl-C, or in the background.",
}

HELP_OPTIONS = ["-h", "--help"]

_ROOMS = {
    "apply": ("apply", "delete"),
    "cluster": (
        *("check", "clock", "clusters", "demo", "down"),
        *("fork", "record", "replay", "restore", "snapshot", "snapshots", "up"),
    ),
    "crd": ("crd",),
    "envtest": ("envtest",),
    "look": ("console", "describe", "get", "logs", "shards"),
    "operators": ("agent", "cosmos", "infra", "klight", "manifests", "operator", "preview", "run"),
    "testing": ("explore", "simulate"),
}
"""Commands whose modules share a folder."""
_ROOM_OF = {command: room for room, commands in _ROOMS.items() for command in commands}


class ExplainedError(click.ClickException):
    """An error whose text says all there is to say."""

    def show(self, file: Any = None) -> None:
        click.echo(self.message, file=file or sys.stderr)


class Commands(click.Group):
    """A group that imports a command's module when the command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        # A user who only completes a word need not know what is not installed.
        if cmd_name not in COMMANDS or (ctx.resilient_parsing and missing(cmd_name)):
            return None
        with gc_disabled():
            command: click.Command = import_module(module_of(cmd_name)).command
        if missing(cmd_name):
            extra = NEEDED_BY[cmd_name]
            command.epilog = f"It needs the extra {extra}: {install_hint(extra)}"
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        # Who lacks an extra may still read what it would be good for.
        if not {*HELP_OPTIONS} & {*args}:
            require(*args[:1])
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except QuintantError as error:
            raise ExplainedError(str(error)) from error


def module_of(command: str) -> str:
    """The module that has a command."""
    room = _ROOM_OF.get(command)
    return f"quintant.cli.{room}.{command}" if room else f"quintant.cli.{command}"


@click.group(cls=Commands, context_settings={"help_option_names": HELP_OPTIONS})
@click.version_option(QUINTANT, message=f"quintant %(version)s, for Kubernetes {KUBERNETES}")
def main() -> None:
    """Controllers for Kubernetes, in Python."""
