"""`quintant preview`: what a version of an operator would do to the cluster, before it is there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from quintant.cli.duration import Duration
from quintant.cli.slow_progress import SlowProgress
from quintant.cli.whole_file import check_writable, write_whole
from quintant.client.config.config import Config
from quintant.client.http.transport import HttpTransport
from quintant.client.retry import with_retries
from quintant.client.transport import InProcessTransport
from quintant.core.clock import SystemClock
from quintant.extras import CLUSTER, require_extra
from quintant.operators import OPERATORS, manager_of
from quintant.runtime.manager.environment import Environment
from quintant.runtime.manager.loading import load_manager
from quintant.runtime.manager.manager import Manager
from quintant.runtime.observe import logs

if TYPE_CHECKING:  # the embedded server is loaded when there is something to preview
    from quintant.preview.run import Preview, PreviewLimits

FAILED = 1
FAIL_ON = ("delete", "replace", "create", "update", "call", "finding")
STATUS = "status="
_INPUT, _OUTPUT = click.Path(path_type=Path), click.Path(path_type=Path, dir_okay=False)


@click.command("preview")
@click.argument("target", metavar="OPERATOR_MODULE_OR_FILE")
@click.option(
    "--baseline", metavar="TARGET", help="Show only what is otherwise than with this one."
)
@click.option(
    "--fail-on",
    "words",
    metavar="WORD,...",
    default="",
    help="End with 1 for: delete, replace, create, update, call, finding, status=CONDITION.",
)
@click.option(
    "--for",
    "seconds",
    type=Duration(least=1.0),
    default="60s",
    show_default=True,
    help="When it is over, if the operator does not rest before: 5m, or seconds.",
)
@click.option(
    "--server-dry-run", is_flag=True, help="Ask the cluster about every write, with dryRun=All."
)
@click.option("--recording", type=_INPUT, help="Of `quintant record`, instead of a live cluster.")
@click.option(
    "--until", type=click.IntRange(min=1), metavar="REVISION", help="Of the recording, not its end."
)
@click.option("--junit", metavar="FILE", type=_OUTPUT, help="Write JUnit XML, too.")
@click.option("--namespace", "-n", "namespaces", multiple=True, help="Watch only this; repeatable.")
@click.option(
    "--output",
    "-o",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to show it.",
)
@click.option("--kubeconfig", type=click.Path(path_type=Path), help="Instead of the usual places.")
@click.option("--context", help="Instead of the kubeconfig's current context.")
def command(
    target: str,
    baseline: str | None,
    words: str,
    seconds: float,
    server_dry_run: bool,
    recording: Path | None,
    until: int | None,
    junit: Path | None,
    namespaces: tuple[str, ...],
    output: str,
    kubeconfig: Path | None,
    context: str | None,
) -> None:
    """Show what a version of an operator would do, without doing it.

    It reads the cluster of your kubeconfig and writes nothing there: what the operator writes is
    carried out on a copy in this process. Of calls to other systems, those are made that are
    declared to read; the others are shown.
    """
    require_extra(CLUSTER, "quintant preview")
    wanted = _fail_on(words)
    _check(recording, until, kubeconfig, context, server_dry_run=server_dry_run)
    if junit is not None:
        check_writable(junit)
    managers = {each: _load(each, namespaces) for each in (target, baseline) if each}
    logs.configure(level="error")
    from quintant.preview.junit import as_junit
    from quintant.preview.report import as_json, as_text
    from quintant.preview.run import PreviewLimits

    def source() -> Environment:
        return _recorded(recording, until) if recording else _live(kubeconfig, context)

    limits = PreviewLimits(seconds, server_dry_run=server_dry_run)
    found = asyncio.run(_previewed(managers, source, limits))
    click.echo(as_json(found) if output == "json" else "\n".join(as_text(found)))
    if junit is not None:
        write_whole(junit, as_junit(found, target, wanted, SystemClock().now()))
    if met := sorted(wanted & found.words):
        click.echo(f"it has {', '.join(met)}", err=True)
        raise click.exceptions.Exit(FAILED)


def _check(
    recording: Path | None,
    until: int | None,
    kubeconfig: Path | None,
    context: str | None,
    *,
    server_dry_run: bool,
) -> None:
    """UsageError where options exclude each other."""
    if until is not None and recording is None:
        raise click.UsageError("--until is about a --recording")
    if recording is not None and (kubeconfig or context or server_dry_run):
        raise click.UsageError(
            "--recording takes the place of a cluster: leave out --kubeconfig, --context and "
            "--server-dry-run"
        )


def _live(kubeconfig: Path | None, context: str | None) -> Environment:
    """The cluster of a kubeconfig."""
    config = Config.load(kubeconfig, context=context) if kubeconfig else Config.discover(context)
    return Environment(with_retries(HttpTransport(config)), namespace=config.namespace)


def _recorded(path: Path, until: int | None) -> Environment:
    """A recorded cluster, as it was at a revision."""
    from quintant.cluster.apiserver.server.server import ApiServer
    from quintant.cluster.apiserver.storage.revision_log import RevisionStore
    from quintant.cluster.instance.replay import load_recording

    store = RevisionStore.of(load_recording(path, until).objects)
    return Environment(InProcessTransport(ApiServer(store=store)))


async def _previewed(
    managers: Mapping[str, Manager], source: Callable[[], Environment], limits: PreviewLimits
) -> Preview:
    """The preview of the first manager, beside that of the second if there is one."""
    environment = source()
    try:
        found = [
            await _preview(target, manager, environment, limits)
            for target, manager in managers.items()
        ]
    finally:
        await environment.transport.close()
    return found[0] if len(found) == 1 else found[0].beside(found[1])


async def _preview(
    target: str, manager: Manager, environment: Environment, limits: PreviewLimits
) -> Preview:
    from quintant.preview.run import preview

    progress = SlowProgress()

    def say(writes: int) -> None:
        progress.say(f"{target}: {writes} writes on the copy")

    return await preview(manager, environment, limits, say)


def _load(target: str, namespaces: tuple[str, ...]) -> Manager:
    if target in OPERATORS:
        return manager_of(target, namespaces)
    manager = load_manager(target)
    if namespaces:
        manager.configure(namespaces=namespaces)
    return manager


def _fail_on(text: str) -> set[str]:
    words = {word.strip() for word in text.split(",") if word.strip()}
    wrong = [word for word in words if word not in FAIL_ON and not word.startswith(STATUS)]
    if wrong:
        raise click.BadParameter(
            f"{sorted(wrong)[0]!r} is none of {', '.join(FAIL_ON)}, status=CONDITION",
            param_hint="--fail-on",
        )
    return words
