"""`quintant clusters`: those that were started with a name."""

from __future__ import annotations

import os
from typing import Any

import click
import msgspec

from quintant.cli.look.table import Rows, laid_out
from quintant.cluster.apiserver.response.printers.age import duration
from quintant.cluster.instance.records import ClusterRecords, NamedCluster
from quintant.cluster.kubelet.process.proc_stats import Table, read_processes
from quintant.core.clock import SystemClock
from quintant.demo.footprint import MEGABYTE, footprint


@click.command("clusters")
@click.option("--output", "-o", type=click.Choice(["json"]), help="For programs.")
def command(output: str | None) -> None:
    """List the clusters that were started with a name.

    MEMORY is that of the cluster and of the pods that are its processes. A cluster that was killed
    is listed as `ended` until `quintant down` or a new start of that name.
    """
    table = read_processes()
    now = SystemClock().now().timestamp()
    found = [_described(each, now, table) for each in ClusterRecords(os.environ).list()]
    if output == "json":
        click.echo(msgspec.json.format(msgspec.json.encode(found)).decode())
    elif not found:
        click.echo("none; quintant up --detach starts one", err=True)
    else:
        click.echo(laid_out(_rows(found)))


def _described(cluster: NamedCluster, now: float, table: Table) -> dict[str, Any]:
    """What is said of one."""
    record = cluster.record
    if record is None or not cluster.running:
        status = "starting" if cluster.running else "ended"
        return {"name": cluster.name, "status": status}
    taken = footprint(table, record.pid)
    return {
        "name": cluster.name,
        "status": "running",
        "address": record.url,
        "ageSeconds": max(0, int(now - record.started)),
        "memoryBytes": taken.memory if taken else None,
        "pid": record.pid,
        "kubeconfig": record.kubeconfig,
        "dataDir": record.data_dir or None,
    }


def _rows(clusters: list[dict[str, Any]]) -> Rows:
    return Rows(
        ("NAME", "STATUS", "ADDRESS", "AGE", "MEMORY", "KUBECONFIG"),
        tuple(
            (
                each["name"],
                each["status"],
                each.get("address", "-"),
                _age(each.get("ageSeconds")),
                _memory(each.get("memoryBytes")),
                each.get("kubeconfig", "-"),
            )
            for each in clusters
        ),
    )


def _age(seconds: int | None) -> str:
    return "-" if seconds is None else duration(seconds)


def _memory(count: int | None) -> str:
    return "-" if count is None else f"{count // MEGABYTE} MB"
