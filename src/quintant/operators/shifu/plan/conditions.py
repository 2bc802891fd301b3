"""What is said of a device in conditions, and when that is an event. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from quintant.api.meta import Condition, ConditionClaim, condition_of, set_conditions
from quintant.core.clock import parse_timestamp
from quintant.operators.shifu.api.device import (
    REACHABLE,
    READY,
    SCHEDULED,
    VALID,
    EdgeDeviceStatus,
)
from quintant.operators.shifu.observe.device_view import FOREIGN
from quintant.operators.shifu.observe.reader import Observed
from quintant.operators.shifu.plan.device import Choice
from quintant.operators.shifu.plan.placement import NONE_FEASIBLE, PIN_MISSING
from quintant.operators.shifu.rules.hints import BAD_HINT, BAD_LOCATION
from quintant.operators.shifu.rules.serving import (
    NO_ADDRESS,
    NO_PROTOCOL,
    UNSUPPORTED,
    not_served,
)
from quintant.runtime.events.transitions import Transition

PIN_LOST, NODE_LOST, MASS_LOSS = "PinnedNodeLost", "NodeLost", "MassNodeLoss"
SETTLING, ADOPTED, UNMANAGED = "Settling", "Adopted", "Unmanaged"
FOREIGN_SECONDS = 120.0
"""How long an agent that is not ours may say nothing before we say so."""
NO_INSTRUCTIONS = "NoInstructions"

TOLD = (
    Transition(SCHEDULED, status="False", reason=NONE_FEASIBLE),
    Transition(SCHEDULED, status="False", reason=PIN_MISSING),
    Transition(SCHEDULED, status="False", reason=PIN_LOST),
    Transition(SCHEDULED, status="False", reason="NodeLocalDeviceWithoutNode"),
    *(
        Transition(VALID, status="False", reason=reason)
        for reason in (BAD_LOCATION, BAD_HINT, NO_PROTOCOL, UNSUPPORTED, NO_ADDRESS)
    ),
)
"""What becomes an event when it becomes so."""


def conditions(observed: Observed, choice: Choice, generation: int | None) -> tuple[Condition, ...]:
    """The conditions of a device; those of the agent stay as they are."""
    known, told = observed.status.conditions, _verdicts(observed, choice)
    return set_conditions(known, told, generation=generation, now=observed.now)


def _verdicts(observed: Observed, choice: Choice) -> Iterator[ConditionClaim]:
    yield _scheduled(observed, choice)
    yield _ready(observed, choice)
    yield _valid(observed)
    if _silent(observed, choice):
        yield ConditionClaim(
            REACHABLE, "Unknown", FOREIGN,
            "its agent reports nothing; for upstream's agents apply deploy/shifu/upstream-agents",
        )  # fmt: skip


def _scheduled(observed: Observed, choice: Choice) -> ConditionClaim:
    if choice.yields:
        return _looked_after(observed)
    if choice.settling:
        return ConditionClaim(
            SCHEDULED, "False", SETTLING, "a Deployment of the user's is waited for"
        )
    if not choice.node or choice.refused is not None:
        refused = choice.refused
        if refused is not None:
            return ConditionClaim(SCHEDULED, "False", refused.reason, refused.message)
        served = not_served(observed.device)
        return ConditionClaim(SCHEDULED, "False", served.reason if served else SETTLING)
    if is_lost(observed, choice):
        return _stranded(observed, choice)
    decision, ours = choice.decision, observed.deployment
    if decision is not None:
        return ConditionClaim(
            SCHEDULED, "True", decision.kind, f"{decision.node}: {decision.reason}"
        )
    kind, reason = (ours.kind, ours.reason) if ours is not None else ("", "")
    said = f"{choice.node}: {reason}" if reason else choice.node
    return ConditionClaim(SCHEDULED, "True", kind or "Placed", said)


def _looked_after(observed: Observed) -> ConditionClaim:
    if observed.theirs is None:
        return ConditionClaim(SCHEDULED, "True", UNMANAGED, "the user looks after its deviceShifu")
    name = observed.theirs.metadata.name
    return ConditionClaim(SCHEDULED, "True", ADOPTED, f"the user's Deployment {name} serves it")


def _stranded(observed: Observed, choice: Choice) -> ConditionClaim:
    """What is said of a deviceShifu on a lost node."""
    if observed.hints.pinned or observed.hints.reschedule == "never":
        said = f"{choice.node} is lost, and it runs there or nowhere"
        return ConditionClaim(SCHEDULED, "False", PIN_LOST, said)
    if observed.held:
        said = "most nodes are lost at once: evacuation waits"
        return ConditionClaim(SCHEDULED, "False", MASS_LOSS, said)
    if observed.unplaced:
        return ConditionClaim(SCHEDULED, "False", NONE_FEASIBLE, observed.unplaced)
    return ConditionClaim(
        SCHEDULED, "False", NODE_LOST, f"{choice.node} is lost, and may come back"
    )


def _ready(observed: Observed, choice: Choice) -> ConditionClaim:
    shown = observed.theirs if choice.yields else observed.deployment
    if choice.yields and shown is None:
        return ConditionClaim(READY, "Unknown", UNMANAGED, "there is no Deployment for it")
    if shown is None:
        served = not_served(observed.device)
        reason = served.reason if served is not None else "NotCreated"
        return ConditionClaim(READY, "False", reason, served.message if served is not None else "")
    if is_lost(observed, choice):
        return ConditionClaim(READY, "Unknown", NODE_LOST, f"nothing is heard of {choice.node}")
    if shown.available and not choice.cause:
        return ConditionClaim(READY, "True", "Available", "its Deployment is up")
    return ConditionClaim(READY, "False", "Unavailable", "its Deployment is not up")


def _valid(observed: Observed) -> ConditionClaim:
    served = not_served(observed.device)
    wrong = [(each.reason, each.message) for each in observed.hints.errors]
    if served is not None:
        wrong.insert(0, (served.reason, served.message))
    if wrong:
        said = "; ".join(message for _, message in wrong)
        return ConditionClaim(VALID, "False", wrong[0][0], said)
    shifu = observed.device.spec.device_shifu
    known = observed.config is not None or (shifu is not None and bool(shifu.instructions))
    if observed.theirs is None and not known:
        return ConditionClaim(
            VALID, "True", NO_INSTRUCTIONS, "no ConfigMap of instructions was found"
        )
    return ConditionClaim(VALID, "True", "Valid")


def is_lost(observed: Observed, choice: Choice) -> bool:
    """Whether nothing runs any more where its deviceShifu is to be."""
    node = observed.node
    if choice.yields or node is None or not choice.node:
        return False
    return node.name == choice.node and node.lost


def _silent(observed: Observed, choice: Choice) -> bool:
    """Whether the agent of a user's own Deployment has said nothing for long."""
    if not choice.yields or observed.theirs is None or not observed.theirs.available:
        return False
    told = condition_of(observed.status.conditions, REACHABLE)
    if told is not None:
        return told.reason == FOREIGN and observed.status.phase in ("", "Pending")
    quiet = quiet_seconds(observed.status, observed.now)
    return quiet is not None and quiet >= FOREIGN_SECONDS


def quiet_seconds(status: EdgeDeviceStatus, now: datetime) -> float | None:
    """For how long the user's Deployment was up without a word; None if it is not, or spoke."""
    up = condition_of(status.conditions, READY)
    told = condition_of(status.conditions, REACHABLE)
    quiet = status.phase in ("", "Pending") and told is None
    if up is None or up.status != "True" or not quiet or not up.last_transition_time:
        return None
    return (now - parse_timestamp(up.last_transition_time)).total_seconds()
