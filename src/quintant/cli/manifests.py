"""`quintant manifests`: what a cluster needs before a manager can run in it, as YAML."""

from __future__ import annotations

import click

from quintant.cli.loading import load_manager
from quintant.runtime import codec
from quintant.runtime.crd import definitions
from quintant.runtime.manifest import to_yaml
from quintant.runtime.rbac import Grantee, needs, roles


@click.command("manifests")
@click.argument("target", metavar="MODULE_OR_FILE")
@click.option("--namespace", "-n", default="default", help="Where the program itself will live.")
def command(target: str, namespace: str) -> None:
    """Print the CRDs, service account and roles of a module or file.

    The roles hold what the controllers declare, and nothing else.
    """
    manager = load_manager(target)
    settings = manager.settings
    grantee = Grantee(settings.name, namespace, settings.namespaces, settings.leader_elect)
    granted = roles(grantee, needs(manager.declarations))
    documents = [*definitions(manager.kinds()), *(codec.to_plain(each) for each in granted)]
    click.echo(to_yaml(documents), nl=False)
