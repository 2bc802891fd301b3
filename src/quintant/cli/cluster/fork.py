"""`quintant fork`: a second cluster in the background, from the state of one that runs."""

from __future__ import annotations

import os

import click

from quintant.cli.cluster.chosen_cluster import cluster_flag, find_running, request_as_admin
from quintant.cli.cluster.detach import connection_words, export_line, start_detached
from quintant.client.transport import ApiRequest
from quintant.cluster.instance.records import ClusterRecords
from quintant.cluster.instance.snapshot_files import SnapshotFiles
from quintant.cluster.instance.snapshots import PATH
from quintant.keys.private_files import write_private

FILE = "fork"
"""The state that a cluster starts from, in its folder; removed once it has read it."""


@click.command("fork")
@click.argument("name")
@cluster_flag
@click.option("--snapshot", default="", help="Begin with a snapshot, not with what there is now.")
def command(name: str, cluster: str, snapshot: str) -> None:
    """Start a second cluster from the state of one that runs.

    It is called NAME, runs in the background with the options of the other, at a port and with
    certificates of its own, in memory. Objects of one are not those of the other; what both
    reach outside, such as a cloud, is the same.
    """
    records = ClusterRecords(os.environ)
    path = records.folder_of(name) / FILE
    if records.find(name).running:
        with records.claim(name):
            pass  # who has the name is said here, or has just ended
    chosen, record = find_running(cluster)
    state = (
        SnapshotFiles(os.environ).read(snapshot)
        if snapshot
        else request_as_admin(record, ApiRequest("GET", PATH))
    )
    write_private(path, state)
    try:
        started = start_detached(name, (*record.arguments, f"--from-snapshot={path}"))
    finally:
        path.unlink(missing_ok=True)
    click.echo(f"{name} is a fork of {snapshot or chosen}", err=True)
    click.echo(connection_words(name, started, records.log_of(name)), err=True)
    click.echo(export_line(started))
