"""`quintant doctor`: what is wrong with this set-up, and what to do."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import click

from quintant.client.config.config import Config
from quintant.core.clock import SystemClock
from quintant.doctor import Finding, Verdict, examine

_COLOURS = {Verdict.GOOD: "green", Verdict.ODD: "yellow", Verdict.BAD: "red"}
_WIDTH = 17


@click.command("doctor")
@click.option("--kubeconfig", type=click.Path(path_type=Path), help="Instead of the usual places.")
@click.option("--context", help="Instead of the kubeconfig's current context.")
def command(kubeconfig: Path | None, context: str | None) -> None:
    """Say what is wrong with this set-up, and what to do."""

    def find() -> Config:
        return Config.load(kubeconfig, context=context) if kubeconfig else Config.discover(context)

    findings = asyncio.run(examine(os.environ, SystemClock(), find))
    for finding in findings:
        click.echo(_line(finding))
    sys.exit(any(finding.verdict is Verdict.BAD for finding in findings))


def _line(finding: Finding) -> str:
    verdict = click.style(f"{finding.verdict.value:6}", fg=_COLOURS[finding.verdict])
    message = f"{verdict} {finding.subject:{_WIDTH}} {finding.message}"
    hints = [f"{'':{_WIDTH + 8}}{line}" for line in finding.hint.splitlines()]
    return "\n".join([message, *hints])
