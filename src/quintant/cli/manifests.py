"""`quintant manifests`: what a cluster needs before a manager can run in it, as YAML."""

from __future__ import annotations

import click

from quintant.core.yaml.dump import to_yaml
from quintant.runtime.manager.loading import load_manager
from quintant.runtime.manager.manager import Manager
from quintant.runtime.manager.manifests import DeploymentOptions, install_manifests


@click.command("manifests")
@click.argument("target", metavar="MODULE_OR_FILE")
@click.option("--namespace", "-n", default="default", help="Where the program itself will live.")
def command(target: str, namespace: str) -> None:
    """Print the CRDs, roles and webhooks of a module or file.

    The roles hold what the controllers declare, and nothing else. Webhooks are expected behind a
    Service with the manager's name.
    """
    found = manifests(load_manager(target), namespace)
    click.echo("---\n".join(found.values()), nl=False)


def manifests(
    manager: Manager, namespace: str, program: DeploymentOptions | None = None
) -> dict[str, str]:
    """The manifests of a manager that lives in a namespace, by what they are about."""
    found = install_manifests(manager, namespace, program)
    return {part: to_yaml(objects) for part, objects in found.items()}
