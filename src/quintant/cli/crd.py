"""`quintant crd`: the CustomResourceDefinitions of a user's kinds, as YAML."""

from __future__ import annotations

import click

from quintant.core.crd import crds
from quintant.core.errors import ConfigError
from quintant.core.yaml.dump import to_yaml
from quintant.runtime.manager.loading import load
from quintant.runtime.manager.manager import Manager
from quintant.runtime.webhook.definitions import unconverted


@click.command("crd")
@click.argument("target", metavar="MODULE_OR_FILE")
def command(target: str) -> None:
    """Print the CustomResourceDefinitions of a module or file.

    Apply them with: quintant crd greeter.py | kubectl apply -f -
    """
    module = load(target)
    found = crds(module)
    if not found:
        raise ConfigError(
            f"cannot print the definitions of {target}",
            because="it defines no custom kind",
            hint="name the module with the classes Custom[Spec, Status] under @resource(...)",
        )
    managers = [value for value in vars(module).values() if isinstance(value, Manager)]
    for name in unconverted(found, (manager.webhooks for manager in managers)):
        raise ConfigError(
            f"cannot print the definition of {name} alone",
            because="its versions are converted by a webhook, whose address is not known here",
            hint=f"quintant manifests {target} --namespace NAMESPACE",
        )
    click.echo(to_yaml(found), nl=False)
