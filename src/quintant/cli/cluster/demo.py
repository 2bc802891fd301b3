"""`quintant demo`: an embedded cluster with every operator in it, each shown at work."""

from __future__ import annotations

import asyncio
import os
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from quintant.cli.cluster.demo_console import running_console, visit_console
from quintant.cli.cluster.signals import run_unless_stopped, stop_event
from quintant.client.config.config import Config
from quintant.client.http.transport import HttpTransport
from quintant.client.rest import Rest
from quintant.cluster.common.node_heartbeat import HeartbeatTimes
from quintant.cluster.host.command_line import hide_arguments
from quintant.cluster.instance.cluster import ClusterConfig, run_cluster, save_kubeconfig
from quintant.cluster.instance.kubeconfig import usual_path
from quintant.cluster.kubelet.container.images import ImageProgram, load_image_table
from quintant.cluster.kubelet.options import NodeOptions
from quintant.cluster.kubelet.process.proc_stats import read_processes
from quintant.cluster.simulated.fleet import Fleet
from quintant.core.address import BindAddress
from quintant.core.gc import freeze_heap, gc_disabled
from quintant.demo.convergence import FIELD_MANAGER, Progress, StartupStage, bring_up
from quintant.demo.footprint import footprint
from quintant.demo.greeter import image_program
from quintant.demo.systems import System, systems
from quintant.extras import require
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.loops import loop_factory
from quintant.runtime.observe import logs

if TYPE_CHECKING:
    from quintant.cli.cluster.progress import ProgressDisplay

# What a slow laptop may need when everything starts at once.
PATIENCE_SECONDS = 180.0
ANY_PORT = "127.0.0.1:0"
# What a shell makes of a program that Ctrl-C ended.
INTERRUPTED = 130


@click.command("demo")
@click.argument("names", nargs=-1, metavar="[SYSTEM]...")
@click.option("--open", "opens", is_flag=True, help="Open the console in a browser.")
@click.option("--exit", "leave", is_flag=True, help="End once everything runs; 1 if it does not.")
@click.option("--within", default=PATIENCE_SECONDS, show_default=True, help="Seconds to wait.")
@click.option("--listen", default=ANY_PORT, help="host:port; port 0 is any free one.")
@click.option("--kubeconfig", type=click.Path(path_type=Path), help="Where to write the way in.")
@click.option(
    "--images", type=click.Path(path_type=Path), help="Run these images by programs of your own."
)
def command(
    names: tuple[str, ...],
    opens: bool,
    leave: bool,
    within: float,
    listen: str,
    kubeconfig: Path | None,
    images: Path | None,
) -> None:
    """Show every operator at work on an embedded cluster.

    The cluster, the operators and what they run are processes of this machine, and end with the
    demo. Name systems to see only those.
    """
    hide_arguments([str(kubeconfig)] if kubeconfig else [])
    logs.configure(level="error")
    table = load_image_table(images) if images else ()
    chosen = systems(names, table)
    require(*(system.name for system in chosen))
    plan = _everything(BindAddress.parse(listen), table, chosen)
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        wishes = DemoOptions(plan, kubeconfig, within, leave, opens)
        sys.exit(runner.run(_demo(chosen, wishes)))


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """What the command line asks for, beside the systems."""

    plan: ClusterConfig
    kubeconfig: Path | None
    within: float
    leave: bool
    opens: bool = False

    def path(self, port: int) -> Path:
        """Where the kubeconfig goes."""
        return (self.kubeconfig or usual_path(os.environ, port)).absolute()


async def _demo(chosen: tuple[System, ...], wishes: DemoOptions) -> int:
    # Of the extra cluster, without which help is shown all the same.
    from quintant.cli.cluster.progress import invitation, progress_display, summary

    stopped, titles = stop_event(), {system.name: system.title for system in chosen}
    click.echo("· starting a cluster")
    async with AsyncExitStack() as stack:
        with gc_disabled():
            cluster = await stack.enter_async_context(run_cluster(wishes.plan))
            freeze_heap()
        way = wishes.path(cluster.address.port)
        save_kubeconfig(cluster, way)
        try:
            console = await stack.enter_async_context(running_console(Config.load(way)))
            with progress_display(titles) as shown:
                shown.say(f"cluster at {cluster.url}")
                shown.say(f"console at {console}")
                if wishes.opens:
                    webbrowser.open(console)
                ends = await run_unless_stopped(
                    stopped, _bring_up(chosen, way, shown, wishes.within)
                )
            if ends is None:
                return INTERRUPTED
            if wishes.leave:
                click.echo(await visit_console(console, _running(ends)))
            summary(ends, titles, footprint(read_processes(), os.getpid()))
            if not wishes.leave:
                click.echo(f"\nto see it:\n  {console}")
                invitation(_tries(chosen), way)
                await stopped.wait()
            return 0 if all(each.stage is StartupStage.RUNNING for each in ends) else 1
        finally:
            click.echo("· stopping", err=True)
            way.unlink(missing_ok=True)


def _tries(chosen: tuple[System, ...]) -> Iterator[str]:
    """What a user may do next; at the end, see how members share the work, and end one."""
    for system in chosen:
        yield from system.sample.tries
    for system in chosen:
        yield from system.member_tries


def _running(ends: list[Progress]) -> list[str]:
    return [each.system for each in ends if each.stage is StartupStage.RUNNING]


async def _bring_up(
    chosen: tuple[System, ...], way: Path, display: ProgressDisplay, within: float
) -> list[Progress]:
    transport = HttpTransport(Config.load(way))
    try:
        client = Client(Rest(transport), manager=FIELD_MANAGER)
        return await bring_up(chosen, client, display.report, within)
    finally:
        await transport.close()


def _everything(
    address: BindAddress, images: tuple[ImageProgram, ...], chosen: tuple[System, ...]
) -> ClusterConfig:
    node = NodeOptions((*images, image_program()))
    wanted = [each.sample.node_grace for each in chosen if each.sample.node_grace is not None]
    times = HeartbeatTimes(min(wanted)) if wanted else HeartbeatTimes()
    return ClusterConfig(address, controllers=True, fleet=Fleet(), node=node, times=times)
