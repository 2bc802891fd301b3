"""`quintant restore`: have a running cluster return to a snapshot."""

from __future__ import annotations

import os

import click

from quintant.cli.cluster.chosen_cluster import cluster_flag, find_running, request_as_admin
from quintant.client.transport import ApiRequest
from quintant.cluster.instance.snapshot_files import SnapshotFiles
from quintant.cluster.instance.snapshots import PATH, RestoreResult
from quintant.wire.foreign import decode_json


@click.command("restore")
@click.argument("name")
@cluster_flag
def command(name: str, cluster: str) -> None:
    """Have a running cluster return to a snapshot.

    What was written since is lost; watches end with 410 Gone, and clients list again. Pods that
    have changed since are stopped, and started as the restored objects say. A file that is damaged,
    or of a newer version, is refused, and the cluster stays as it is.
    """
    raw = SnapshotFiles(os.environ).read(name)
    chosen, record = find_running(cluster)
    call = ApiRequest("PUT", PATH, headers={"accept": "application/json"}, body=raw)
    result = decode_json(request_as_admin(record, call), RestoreResult)
    click.echo(
        f"{chosen} has the {result.objects} objects of {name} again, at revision {result.revision}"
    )
