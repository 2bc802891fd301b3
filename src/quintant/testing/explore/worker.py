"""A process that makes runs for another one: `python -m quintant.testing.explore.worker`.

It reads a line of JSON for every run, `{"target": "file.py:Scenario", "token": "lost@w0"}`, and
writes one for what came of it. A scenario is loaded and recorded when it is first asked for.
"""

from __future__ import annotations

import gc
import sys
from functools import cache

import msgspec

from quintant.core.errors import QuintantError
from quintant.testing.explore.explorer import Explorer
from quintant.testing.explore.injection.fault import RunToken
from quintant.testing.explore.loading import load_scenario
from quintant.testing.explore.report.exploration import ExplorationFailure
from quintant.testing.explore.shrink import shrunk


class WorkOrder(msgspec.Struct, frozen=True):
    """One run to make."""

    target: str
    token: str
    shrink: bool = False


class WorkResult(msgspec.Struct, frozen=True):
    """What came of it: a failure, an error that ends the exploration, or nothing."""

    failure: ExplorationFailure | None = None
    error: str = ""


@cache
def _explorer(target: str) -> Explorer:
    explorer = Explorer(load_scenario(target), target=target, proven=True)
    # What is there now stays: nobody has to look through it again and again.
    gc.collect()
    gc.freeze()
    return explorer


def make(order: WorkOrder) -> WorkResult:
    """Make a run."""
    try:
        explorer = _explorer(order.target)
        failure = explorer.run(RunToken.parse(order.token))
        if failure is not None and order.shrink:
            failure = shrunk(explorer, failure)
    except QuintantError as error:
        return WorkResult(error=str(error))
    return WorkResult(failure)


def main() -> None:
    """Make runs until there are no more orders."""
    answers = sys.stdout.buffer
    # What a scenario prints must not be taken for an answer.
    sys.stdout = sys.stderr
    decode = msgspec.json.Decoder(WorkOrder).decode
    for line in sys.stdin.buffer:
        answers.write(msgspec.json.encode(make(decode(line))) + b"\n")
        answers.flush()


if __name__ == "__main__":
    main()
