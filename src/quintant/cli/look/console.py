"""`quintant console`: what is in a cluster, on one page, live."""

from __future__ import annotations

import asyncio
import webbrowser
from collections.abc import Sequence
from importlib import import_module, resources
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING

import click

from quintant.cli.cluster.signals import stop_event
from quintant.client.config.config import Config
from quintant.client.http.transport import HttpTransport
from quintant.core import codec
from quintant.core.address import BindAddress
from quintant.core.clock import Random, SystemClock
from quintant.core.text import one_line
from quintant.core.yaml.dump import to_yaml
from quintant.operators import OPERATORS
from quintant.runtime.manager.loops import loop_factory
from quintant.runtime.observe import logs

if TYPE_CHECKING:
    from quintant.console.console import ConsoleSystem

ADDRESS = "127.0.0.1:8090"
PANELS = "quintant.panels"
"""The group of entry points by which packages of others name their panels."""
README = "README.md"
REASON_LENGTH = 300


@click.command("console")
@click.option("--listen", default=ADDRESS, show_default=True, help="host:port; port 0 is any.")
@click.option("--kubeconfig", type=click.Path(path_type=Path), help="Instead of the usual places.")
@click.option("--context", help="Instead of the kubeconfig's current context.")
@click.option("--open", "opens", is_flag=True, help="Open it in a browser.")
@click.option(
    "--token-file", type=click.Path(path_type=Path), help="Let in who knows the token in a file."
)
@click.option(
    "--kubernetes-auth",
    is_flag=True,
    help="Let in users of the cluster, by their tokens; each sees what they may list.",
)
@click.option("--print-role", is_flag=True, help="Print the account and role it needs, and end.")
@click.option("--namespace", "-n", default="default", help="Where the account is, of the role.")
@click.option(
    "--figures",
    multiple=True,
    type=click.Choice(list(OPERATORS)),
    help="With --print-role, also the one to read an operator's metrics; again for others.",
)
def command(
    listen: str,
    kubeconfig: Path | None,
    context: str | None,
    opens: bool,
    token_file: Path | None,
    kubernetes_auth: bool,
    print_role: bool,
    namespace: str,
    figures: tuple[str, ...],
) -> None:
    """Show a cluster on a web page, live.

    It reads and changes nothing, until Ctrl-C. On loopback it needs no password; elsewhere it does
    not start without --token-file or --kubernetes-auth.
    """
    from quintant.console.console import ConsoleOptions, run_console

    if print_role:
        click.echo(role_text(namespace, figures, reviews=kubernetes_auth), nl=False)
        return
    logs.configure(level="warning")
    config = Config.load(kubeconfig, context=context) if kubeconfig else Config.discover(context)
    options = ConsoleOptions(
        console_systems(),
        BindAddress.parse(listen),
        config.server,
        token_file,
        kubernetes_auth,
    )

    async def serve() -> None:
        stopped, transport = stop_event(), HttpTransport(config)
        try:
            async with run_console(options, transport, SystemClock(), Random()) as address:
                url = f"http://{address}/"
                click.echo(f"console at {url}")
                if opens:
                    webbrowser.open(url)
                await stopped.wait()
        finally:
            await transport.close()

    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(serve())


def role_text(namespace: str, figures: Sequence[str] = (), *, reviews: bool) -> str:
    """The account, role and binding of a console, as YAML; and its role for operators' figures."""
    from quintant.console.role import console_rbac, figures_rbac

    panels = [each.panel for each in console_systems()]
    objects = list(console_rbac(panels, namespace, reviews=reviews))
    if figures:
        objects += figures_rbac([OPERATORS[name].namespace for name in figures], namespace)
    return to_yaml(codec.to_plain(each) for each in objects)


def operator_systems() -> tuple[ConsoleSystem, ...]:
    """Every operator that comes with Quintant, with its panel."""
    from quintant.console.console import ConsoleSystem

    return tuple(
        ConsoleSystem(
            import_module(f"quintant.operators.{name}.panel").PANEL,
            program.name,
            _readme(f"quintant.operators.{name}"),
        )
        for name, program in OPERATORS.items()
    )


def _readme(package: str) -> str:
    """What a package says of itself in the README.md that it brings; empty if there is none."""
    try:
        return resources.files(package).joinpath(README).read_text("utf-8")
    except (OSError, TypeError, ValueError, ImportError):
        return ""


def console_systems() -> tuple[ConsoleSystem, ...]:
    """Those, and operators of others whose packages are installed beside us."""
    ours = operator_systems()
    taken = {each.panel.name for each in ours}
    found = (_installed_system(each) for each in entry_points(group=PANELS))
    return (*(each for each in found if each and each.panel.name not in taken), *ours)


def _installed_system(entry: EntryPoint) -> ConsoleSystem | None:
    """The panel of a package; None, and why on standard error, if it cannot be shown."""
    from quintant.console.console import ConsoleSystem
    from quintant.runtime.observe.system_panel import SystemPanel

    try:
        panel = entry.load()
    except Exception as error:  # the module is a stranger's, and the console is for all
        panel, reason = None, one_line(f"{type(error).__name__}: {error}", REASON_LENGTH)
    else:
        reason = "it is no SystemPanel"
    if isinstance(panel, SystemPanel):
        return ConsoleSystem(panel, entry.name, _readme(entry.module.rpartition(".")[0]))
    click.echo(
        f"cannot show the panel {entry.name!r}\nbecause: {reason}\n"
        f"try: mend {entry.value}; until then its kinds are shown by their definitions",
        err=True,
    )
    return None
