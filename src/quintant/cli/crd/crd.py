"""`quintant crd`: the CustomResourceDefinitions of a user's kinds, as YAML.

    quintant crd greeter.py                  print them
    quintant crd diff OLD NEW                see diff.py

Whatever does not begin with a command's name is a module, file or operator.
"""

from __future__ import annotations

import click

from quintant.cli.crd.diff import diff
from quintant.cli.crd.sources import module_definitions
from quintant.core.errors import ConfigError
from quintant.core.yaml.dump import to_yaml
from quintant.runtime.webhook.definitions import unconverted

COMMANDS = {"diff": diff}


class TargetOrCommand(click.Group):
    """Commands, or a target whose definitions are printed."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] in self.commands:
            return super().resolve_command(ctx, args)
        return "print", print_definitions, args


@click.group(
    "crd",
    cls=TargetOrCommand,
    commands=COMMANDS,
    subcommand_metavar="OPERATOR_MODULE_OR_FILE | diff OLD NEW",
)
def command() -> None:
    """Print CustomResourceDefinitions, or compare two versions.

    Apply them with: quintant crd greeter.py | kubectl apply -f -
    """


@click.command("print")
@click.argument("target", metavar="OPERATOR_MODULE_OR_FILE")
def print_definitions(target: str) -> None:
    """Print the CustomResourceDefinitions of a module or file."""
    found, managers = module_definitions(target)
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
