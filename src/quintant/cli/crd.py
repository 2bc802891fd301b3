"""`quintant crd`: the CustomResourceDefinitions of a user's kinds, as YAML."""

from __future__ import annotations

import click

from quintant.core.crd import crds
from quintant.core.errors import ConfigError
from quintant.core.yaml.dump import to_yaml
from quintant.runtime.manager.loading import load


@click.command("crd")
@click.argument("target", metavar="MODULE_OR_FILE")
def command(target: str) -> None:
    """Print the CustomResourceDefinitions of a module or file.

    Apply them with: quintant crd greeter.py | kubectl apply -f -
    """
    found = crds(load(target))
    if not found:
        raise ConfigError(
            f"cannot print the definitions of {target}",
            because="it defines no custom kind",
            hint="name the module with the classes Custom[Spec, Status] under @resource(...)",
        )
    click.echo(to_yaml(found), nl=False)
