"""`quintant up`: an embedded Kubernetes-compatible cluster, until Ctrl-C."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
from pathlib import Path

import click

from quintant.cluster.up import PORT, Cluster, Plan, kept, running, save, usual_path
from quintant.runtime.listen import Address
from quintant.runtime.loops import loop_factory
from quintant.version import KUBERNETES


@click.command("up")
@click.option(
    "--listen", default=f"127.0.0.1:{PORT}", show_default=True, help="host:port to serve on."
)
@click.option(
    "--data-dir", type=click.Path(path_type=Path), help="Keep everything here; else in memory."
)
@click.option(
    "--power-safe", is_flag=True, help="With --data-dir: wait for the disk at every commit."
)
@click.option("--kubeconfig", type=click.Path(path_type=Path), help="Where to write the way in.")
@click.option("--print-kubeconfig", is_flag=True, help="Print the way in and write no file.")
def command(
    listen: str,
    data_dir: Path | None,
    power_safe: bool,
    kubeconfig: Path | None,
    print_kubeconfig: bool,
) -> None:
    """Run an embedded cluster until Ctrl-C.

    It speaks the Kubernetes API with TLS and roles: for laptops, demos and tests, never for
    production. With a data directory the next start goes on where this one ends, however it ends.
    """
    if power_safe and not data_dir:
        raise click.UsageError("--power-safe needs --data-dir")
    if kubeconfig and print_kubeconfig:
        raise click.UsageError("--kubeconfig and --print-kubeconfig exclude each other")
    plan = Plan(Address.parse(listen))
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        if data_dir:
            runner.run(_keep(plan, data_dir, power_safe, kubeconfig, print_kubeconfig))
        else:
            runner.run(_up(plan, "memory", kubeconfig, print_kubeconfig))


async def _keep(plan: Plan, folder: Path, power: bool, path: Path | None, printed: bool) -> None:
    async with kept(plan, folder, power=power) as whole:
        await _up(whole, str(folder), path, printed)


async def _up(plan: Plan, place: str, path: Path | None, printed: bool) -> None:
    stopped = _signalled()
    async with running(plan) as cluster:
        click.echo(_where(cluster, place), err=True)
        if printed:
            click.echo(cluster.kubeconfig.reveal(), nl=False)
        else:
            chosen = path or usual_path(os.environ, cluster.address.port)
            save(cluster, chosen)
            click.echo(f"export KUBECONFIG={shlex.quote(str(chosen))}")
        await stopped.wait()
    click.echo("stopped", err=True)


def _signalled() -> asyncio.Event:
    """Set when somebody wants the process to end."""
    stopped, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    return stopped


def _where(cluster: Cluster, place: str) -> str:
    said = f"serving Kubernetes {KUBERNETES} at {cluster.url}, in {place}"
    if cluster.private:
        return f"{said}, for this machine only"
    return (
        f"{said}\nwarning: {cluster.address} can be reached from other machines; "
        "whoever has the kubeconfig may do everything"
    )
