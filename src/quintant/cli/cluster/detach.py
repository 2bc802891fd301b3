"""`quintant up --detach`: the same program in the background, and a wait until it is ready."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import click
from click.core import ParameterSource

from quintant.cli.slow_progress import SlowProgress
from quintant.cluster.instance.records import ClusterRecord, ClusterRecords
from quintant.core.errors import ConfigError, QuintantError
from quintant.keys.private_files import FILE_MODE, private_folder

POLL_SECONDS = 0.05
PATIENCE_SECONDS = 120.0
MOST_LINES, MOST_BYTES = 20, 16 * 1024
"""Of the log of a start that failed."""


class DetachedStartFailed(QuintantError):
    """The process ended before its cluster was ready; the text is what it said itself."""


def start_detached(name: str, arguments: Iterable[str]) -> ClusterRecord:
    """Run `quintant up` in the background; its record, once the cluster is ready."""
    records = ClusterRecords(os.environ)
    if records.find(name).running:
        with records.claim(name):
            pass  # who has the name is said here, or has just ended
    log = records.log_of(name)
    command = [sys.executable, "-m", "quintant", "up", *arguments, "--name", name]
    with _log_file(log) as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        return _wait_ready(records, name, process)
    except BaseException:
        _end(process)
        raise


def connection_words(name: str, record: ClusterRecord, log: Path) -> str:
    """What a user needs to know of a cluster in the background."""
    return (
        f"the cluster {name!r} serves at {record.url}, pid {record.pid}, log {log}\n"
        f"quintant down {name} stops it"
    )


def export_line(record: ClusterRecord) -> str:
    """For a shell to evaluate."""
    return f"export KUBECONFIG={shlex.quote(record.kubeconfig)}"


def _wait_ready(
    records: ClusterRecords, name: str, process: subprocess.Popen[bytes]
) -> ClusterRecord:
    progress = SlowProgress()
    for _ in range(int(PATIENCE_SECONDS / POLL_SECONDS)):
        record = records.find(name).record
        if record is not None and record.pid == process.pid:
            return record
        if process.poll() is not None:
            raise DetachedStartFailed(_last_lines(records.log_of(name)))
        progress.say("waiting until the cluster is ready")
        time.sleep(POLL_SECONDS)
    raise ConfigError(
        f"the cluster {name!r} did not start",
        because=f"it was not ready after {PATIENCE_SECONDS:g} s",
        hint=f"read {records.log_of(name)}",
    )


def given_arguments(context: click.Context, *without: str) -> Iterator[str]:
    """What was given on the command line, as it is given again, from whatever folder."""
    for parameter in context.command.params:
        name = parameter.name or ""
        given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if not given or name in without:
            continue
        value = context.params[name]
        if isinstance(parameter, click.Option) and parameter.is_flag:
            yield parameter.opts[0]
            continue
        for each in value if isinstance(value, tuple) else (value,):
            text = each.absolute() if isinstance(each, Path) else each
            yield f"{parameter.opts[0]}={text}"


def _log_file(path: Path) -> BinaryIO:
    """A new log that only its owner reads."""
    private_folder(path.parent)
    path.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
    return os.fdopen(os.open(path, flags, FILE_MODE), "ab")


def _last_lines(log: Path) -> str:
    with suppress(OSError):
        text = log.read_bytes()[-MOST_BYTES:].decode(errors="replace")
        if lines := text.splitlines()[-MOST_LINES:]:
            return "\n".join(lines)
    return "the process ended without a word"


def _end(process: subprocess.Popen[bytes]) -> None:
    """Leave nothing behind that nobody knows of."""
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
