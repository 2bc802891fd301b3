"""`quintant apply`: server-side apply of manifests, for machines without kubectl."""

from __future__ import annotations

from pathlib import Path

import click

from quintant.cli.apply.options import given_manifests, manifest_flags, parse_timeout, progress
from quintant.cli.apply.writer import MANAGER, ManifestWriter
from quintant.cli.client import run_with_client
from quintant.runtime.cache.client import Client


@click.command("apply")
@manifest_flags
@click.option("--force-conflicts", is_flag=True, help="Take over fields that others own.")
@click.option(
    "--prune", is_flag=True, help="With -l: delete what was applied before, and is not now."
)
@click.option("--selector", "-l", default="", help="Labels of what --prune may delete.")
@click.option("--wait", is_flag=True, help="Wait until workloads and definitions are ready.")
def command(
    files: tuple[Path, ...],
    kustomize: Path | None,
    recursive: bool,
    timeout: str,
    namespace: str,
    kubeconfig: Path | None,
    force_conflicts: bool,
    prune: bool,
    selector: str,
    wait: bool,
) -> None:
    """Apply manifests by server-side apply.

    Namespaces and definitions go first. -k understands resources, namespace, labels,
    commonAnnotations and images, and refuses any other field by its name. --prune deletes objects
    of every kind that have the labels of -l and were applied by this command before.
    """
    if prune != bool(selector):
        raise click.UsageError("--prune needs --selector, and --selector needs --prune")
    manifests, seconds = given_manifests(files, kustomize, recursive), parse_timeout(timeout)

    async def work(client: Client, current: str) -> None:
        writer = ManifestWriter(client.rest, current or "default", seconds, progress())
        applied = await writer.apply(manifests, click.echo, force=force_conflicts)
        if prune:
            await writer.prune(selector, applied, click.echo)
        if wait:
            await writer.wait_ready(applied)

    run_with_client(MANAGER, work, namespace=namespace, kubeconfig=kubeconfig)
