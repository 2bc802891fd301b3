"""`quintant crd`: the CustomResourceDefinitions of a user's kinds, as YAML."""

from __future__ import annotations

import click

from quintant.core.errors import ConfigError
from quintant.core.schema.crd import Plain, crds, definitions
from quintant.core.yaml.dump import to_yaml
from quintant.operators import OPERATORS, manager_of
from quintant.runtime.manager.loading import load, load_manager, split_target
from quintant.runtime.manager.manager import Manager
from quintant.runtime.webhook.definitions import unconverted


@click.command("crd")
@click.argument("target", metavar="OPERATOR_MODULE_OR_FILE")
def command(target: str) -> None:
    """Print the CustomResourceDefinitions of a module or file.

    Apply them with: quintant crd greeter.py | kubectl apply -f -
    """
    found, managers = _definitions(target)
    if not found:
        raise ConfigError(
            f"cannot print the definitions of {target}",
            because="it defines no custom kind",
            hint="name the module with the classes Custom[Spec, Status] under @resource(...)",
        )
    for name in unconverted(found, (manager.webhooks for manager in managers)):
        raise ConfigError(
            f"cannot print the definition of {name} alone",
            because="its versions are converted by a webhook, whose address is not known here",
            hint=f"quintant manifests {target} --namespace NAMESPACE",
        )
    click.echo(to_yaml(found), nl=False)


def _definitions(target: str) -> tuple[list[Plain], list[Manager]]:
    """The definitions of the kinds of a target, and its managers.

    A module that has no kinds of its own, but a manager of kinds that it imports, has those: what
    `quintant manifests` takes is taken here.
    """
    if target in OPERATORS:
        managers = [manager_of(target)]
    else:
        path, name = split_target(target)
        module = load(path)
        found = crds(module)
        managers = [each for each in vars(module).values() if isinstance(each, Manager)]
        if found and not name:
            return found, managers
        if managers or name:
            managers = [load_manager(target)]
    return definitions(kind for manager in managers for kind in manager.kinds()), managers
