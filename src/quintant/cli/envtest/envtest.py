"""`quintant envtest assets`: what Go's, Rust's and Java's test kits start, without a download."""

from __future__ import annotations

import os
from pathlib import Path

import click

from quintant.cli.envtest.assets import usual_folder, write_assets


@click.group("envtest")
def command() -> None:
    """Stand in for the etcd and kube-apiserver of envtest."""


@command.command("assets")
@click.option(
    "--dir",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Put the programs here; else into the user's folder for caches.",
)
def assets(folder: Path | None) -> None:
    """Write etcd and kube-apiserver, and print the folder for KUBEBUILDER_ASSETS."""
    click.echo(write_assets(folder or usual_folder(os.environ), os.environ))
