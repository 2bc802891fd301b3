"""`quintant clock`: the time of a running cluster, which may be ahead of the machine's."""

from __future__ import annotations

import click
import msgspec

from quintant.cli.cluster.chosen_cluster import cluster_flag, find_running, request_as_admin
from quintant.client.transport import JSON, ApiRequest
from quintant.cluster.apiserver.response.printers.age import duration
from quintant.cluster.instance.cluster_clock import PATH, ClockChange, ClockStatus
from quintant.core.duration import parse_duration
from quintant.wire.foreign import decode_json


@click.group("clock")
def command() -> None:
    """Look at the clock of a running cluster, or change it.

    Everything in the cluster goes by it: schedules, deadlines, expiries. Programs of pods do not.
    """


@command.command("status")
@cluster_flag
def status(cluster: str) -> None:
    """Say what time it is in a cluster."""
    _send(cluster, ApiRequest("GET", PATH))


@command.command("advance")
@click.argument("duration")
@cluster_flag
def advance(duration: str, cluster: str) -> None:
    """Have DURATION pass at once, as 36h; there is no way back.

    What is due then happens: CronJobs start, finished Jobs go, deadlines pass, tokens expire.
    """
    if duration.startswith("-"):
        raise click.UsageError(f"{duration} is no way: a clock goes forward only")
    try:
        seconds = parse_duration(duration)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    _change(cluster, ClockChange(advance=seconds))


@command.command("pause")
@cluster_flag
def pause(cluster: str) -> None:
    """Have the clock stand still, and with it controllers, scheduler and nodes, to look around.

    The API server answers and stores; programs of pods run on, and no one looks after them.
    """
    _change(cluster, ClockChange(paused=True))


@command.command("resume")
@cluster_flag
def resume(cluster: str) -> None:
    """Have a paused clock go on from where it stood still."""
    _change(cluster, ClockChange(paused=False))


def _change(cluster: str, change: ClockChange) -> None:
    body = msgspec.json.encode(change)
    headers = {"content-type": JSON}
    _send(cluster, ApiRequest("POST", PATH, headers=headers, body=body))


def _send(cluster: str, call: ApiRequest) -> None:
    name, record = find_running(cluster)
    now = decode_json(request_as_admin(record, call), ClockStatus)
    away, side = duration(int(abs(now.ahead))), "ahead" if now.ahead > 0 else "behind"
    differs = f"{away} {side}" if now.ahead else "as on this machine"
    click.echo(f"in {name} it is {now.now}, {differs}{', paused' if now.paused else ''}")
