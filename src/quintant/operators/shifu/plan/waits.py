"""When a device is looked at again though nothing has changed. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from quintant.api.meta import condition_of
from quintant.operators.shifu.api.device import SCHEDULED, EdgeDeviceStatus
from quintant.operators.shifu.observed.device import Observed
from quintant.operators.shifu.observed.outcome import WriteOutcome
from quintant.operators.shifu.options import Options
from quintant.operators.shifu.plan.device import (
    LEAVING_SECONDS,
    UNSCHEDULED_SECONDS,
    Choice,
    unscheduled_seconds,
)
from quintant.operators.shifu.plan.reachable import (
    FOREIGN_SECONDS,
    SILENT_SECONDS,
    agentless,
    is_foreign,
    is_superseding,
    quiet_seconds,
)
from quintant.operators.shifu.rules.moments import seconds_since
from quintant.runtime.reconcile.result import Result

FIRST_RETRY_SECONDS, LAST_RETRY_SECONDS = 5.0, 300.0
"""Between two looks for a place, or reports; in between as long as it has been tried."""
SECRET_SECONDS = 30.0
"""Between two looks at a Secret that is not there, or not the device's: none is watched."""
REFUSED_SECONDS = 30.0
"""Between two attempts to write what was refused: objects of others are not watched."""


def next_look(
    observed: Observed,
    choice: Choice,
    options: Options,
    status: EdgeDeviceStatus,
    outcome: WriteOutcome,
) -> Result | None:
    """When time alone makes a difference."""
    waits = list(_waits(observed, choice, options, status))
    waits += [_patience(each.at, observed) for each in outcome.unreported]
    if outcome.refusals:
        waits.append(REFUSED_SECONDS)
    return Result(after=max(0.1, min(waits))) if waits else None


def _waits(
    observed: Observed, choice: Choice, options: Options, status: EdgeDeviceStatus
) -> Iterator[float]:
    if choice.settling:
        yield choice.settling
    if choice.refused is not None:
        condition = condition_of(status.conditions, SCHEDULED)
        yield _patience(condition.last_transition_time if condition else None, observed)
    if choice.node and observed.secret is not None and not observed.secret.shared:
        yield SECRET_SECONDS
    if 0 < (unscheduled := unscheduled_seconds(observed)) < UNSCHEDULED_SECONDS:
        yield UNSCHEDULED_SECONDS - unscheduled
    ours = observed.deployment
    waits = ours is not None and ours.previous and not ours.available
    if choice.moved or waits:
        yield options.move_timeout
    if ours is not None and not ours.available and not agentless(observed, choice):
        yield SILENT_SECONDS
    if is_superseding(observed, choice):
        yield LEAVING_SECONDS
    quiet = quiet_seconds(status, observed.now) if is_foreign(observed, choice) else None
    if quiet is not None:
        yield FOREIGN_SECONDS - quiet


def _patience(since: str | None, observed: Observed) -> float:
    """As long as something has been tried already, within bounds."""
    passed = seconds_since(since, observed.now) or 0.0
    return min(max(passed, FIRST_RETRY_SECONDS), LAST_RETRY_SECONDS)
