"""`quintant manifests`: what a cluster needs before a manager can run in it, as YAML."""

from __future__ import annotations

import click

from quintant.api.admission import ServiceReference
from quintant.cli.loading import load_manager
from quintant.runtime import codec
from quintant.runtime.crd import definitions
from quintant.runtime.manager import Manager
from quintant.runtime.manifest import to_yaml
from quintant.runtime.object import Object
from quintant.runtime.rbac import generated


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


def manifests(manager: Manager, namespace: str) -> dict[str, str]:
    """The manifests of a manager that lives in a namespace, by what they are about."""
    settings = manager.settings
    service = ServiceReference(name=settings.name, namespace=namespace)
    found = {
        "crds": to_yaml(definitions(manager.kinds())),
        "rbac": _yaml(generated(settings, manager.declarations, namespace)),
        "webhooks": _yaml(manager.webhooks.configurations(service)),
    }
    return {name: text for name, text in found.items() if text}


def _yaml(objects: tuple[Object, ...]) -> str:
    return to_yaml(codec.to_plain(obj) for obj in objects)
