"""`quintant snapshot`: keep everything that is in a running cluster."""

from __future__ import annotations

import os

import click

from quintant.cli.cluster.chosen_cluster import cluster_flag, find_running, request_as_admin
from quintant.client.transport import ApiRequest
from quintant.cluster.apiserver.storage.snapshot_file import read_info
from quintant.cluster.instance.snapshot_files import SnapshotFiles
from quintant.cluster.instance.snapshots import PATH


@click.command("snapshot")
@click.argument("name")
@cluster_flag
@click.option("--replace", is_flag=True, help="Overwrite a snapshot of that name.")
def command(name: str, cluster: str, replace: bool) -> None:
    """Keep everything that is in a running cluster, under a name.

    All objects are of one moment, whoever writes meanwhile; Secrets are among them, so the file is
    its owner's alone. What programs have in memory, and the files of volumes, are no part of it.
    """
    files = SnapshotFiles(os.environ)
    if not replace:
        files.check_free(name)
    _, record = find_running(cluster)
    raw = request_as_admin(record, ApiRequest("GET", PATH))
    path = files.write(name, raw, replace=replace)
    info = read_info(raw[: raw.find(b"\n") + 1])
    click.echo(f"kept {info.objects} objects of revision {info.revision} in {path}")
