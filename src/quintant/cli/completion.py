"""`quintant completion bash|zsh|fish`: the script that makes a shell complete our commands."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from quintant.core.errors import ConfigError

PROGRAM = "quintant"
# The variable by which the script asks the program for completions; click derives the same name.
VARIABLE = "_QUINTANT_COMPLETE"


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the completion script of a shell.

    For bash, put this into ~/.bashrc: eval "$(quintant completion bash)"
    """
    complete = get_completion_class(shell)
    assert complete is not None, "click.Choice admits only shells that click knows"
    try:
        click.echo(complete(ctx.find_root().command, {}, PROGRAM, VARIABLE).source())
    except RuntimeError as error:
        raise ConfigError(
            f"cannot write a completion script for {shell}",
            because=str(error),
            hint=f"install {shell}, or choose another shell",
        ) from error
