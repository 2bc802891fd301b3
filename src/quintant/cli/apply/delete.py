"""`quintant delete`: deletion of what manifests have, for machines without kubectl."""

from __future__ import annotations

from pathlib import Path

import click

from quintant.cli.apply.options import given_manifests, manifest_flags, parse_timeout, progress
from quintant.cli.apply.writer import MANAGER, ManifestWriter
from quintant.cli.client import run_with_client
from quintant.runtime.cache.client import Client


@click.command("delete")
@manifest_flags
@click.option("--ignore-not-found", is_flag=True, help="What is not there is no error.")
@click.option("--wait/--no-wait", default=True, help="Wait until all of it is gone.")
def command(
    files: tuple[Path, ...],
    kustomize: Path | None,
    recursive: bool,
    timeout: str,
    namespace: str,
    kubeconfig: Path | None,
    ignore_not_found: bool,
    wait: bool,
) -> None:
    """Delete the objects of manifests.

    Definitions and namespaces go last. It ends when all of it is gone.
    """
    manifests, seconds = given_manifests(files, kustomize, recursive), parse_timeout(timeout)

    async def work(client: Client, current: str) -> None:
        writer = ManifestWriter(client.rest, current or "default", seconds, progress())
        deleted = await writer.delete(manifests, click.echo, ignore_missing=ignore_not_found)
        if wait:
            await writer.wait_gone(deleted)

    run_with_client(MANAGER, work, namespace=namespace, kubeconfig=kubeconfig)
