"""`quintant doctor`: what is wrong with this set-up, and what to do."""

from __future__ import annotations

import asyncio
import os
import sys

import click

from quintant.core.clock import SystemClock
from quintant.doctor import Finding, Verdict, examine

_COLOURS = {Verdict.GOOD: "green", Verdict.ODD: "yellow", Verdict.BAD: "red"}
_WIDTH = 17


@click.command("doctor")
def command() -> None:
    """Say what is wrong with this set-up, and what to do."""
    findings = asyncio.run(examine(os.environ, SystemClock()))
    for finding in findings:
        click.echo(_line(finding))
    sys.exit(any(finding.verdict is Verdict.BAD for finding in findings))


def _line(finding: Finding) -> str:
    verdict = click.style(f"{finding.verdict.value:6}", fg=_COLOURS[finding.verdict])
    told = f"{verdict} {finding.subject:{_WIDTH}} {finding.said}"
    hints = [f"{'':{_WIDTH + 8}}{line}" for line in finding.hint.splitlines()]
    return "\n".join([told, *hints])
