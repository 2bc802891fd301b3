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
    """Look at the clock of a running cluster, or advance it.

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
    try:
        seconds = parse_duration(duration)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    body = msgspec.json.encode(ClockChange(seconds))
    headers = {"content-type": JSON}
    _send(cluster, ApiRequest("POST", PATH, headers=headers, body=body))


def _send(cluster: str, call: ApiRequest) -> None:
    name, record = find_running(cluster)
    now = decode_json(request_as_admin(record, call), ClockStatus)
    ahead = f"{duration(int(now.ahead))} ahead" if now.ahead else "as on this machine"
    click.echo(f"in {name} it is {now.now}, {ahead}")
