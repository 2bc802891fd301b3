"""What is said of a device in conditions, and when that is an event. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from quintant.api.meta import Condition, ConditionClaim, set_conditions
from quintant.operators.shifu.api.device import READY, SCHEDULED, VALID
from quintant.operators.shifu.observed.device import Observed
from quintant.operators.shifu.observed.device_view import NO_AGENT, SIMULATED
from quintant.operators.shifu.observed.outcome import NAME_TAKEN, REFUSED, WriteOutcome
from quintant.operators.shifu.plan.device import Choice
from quintant.operators.shifu.plan.placement import NONE_FEASIBLE, PIN_MISSING
from quintant.operators.shifu.plan.reachable import (
    SUPERSEDING,
    agentless,
    is_lost,
    is_superseding,
    simulated,
    takes_back,
    unknown_reachable,
)
from quintant.operators.shifu.rules.hints import BAD_HINT, BAD_LOCATION
from quintant.operators.shifu.rules.images import NOT_ALLOWED
from quintant.operators.shifu.rules.secrets import NOT_SHARED
from quintant.operators.shifu.rules.serving import (
    NO_ADDRESS,
    NO_PROTOCOL,
    UNSUPPORTED,
)
from quintant.runtime.events.transitions import Transition

PIN_LOST, NODE_LOST, MASS_LOSS = "PinnedNodeLost", "NodeLost", "MassNodeLoss"
SETTLING, ADOPTED, UNMANAGED = "Settling", "Adopted", "Unmanaged"
NO_INSTRUCTIONS = "NoInstructions"

TRANSITIONS = (
    Transition(SCHEDULED, status="False", reason=NONE_FEASIBLE),
    Transition(SCHEDULED, status="False", reason=PIN_MISSING),
    Transition(SCHEDULED, status="False", reason=PIN_LOST),
    Transition(SCHEDULED, status="False", reason="NodeLocalDeviceWithoutNode"),
    *(Transition(READY, status="False", reason=reason) for reason in (NAME_TAKEN, REFUSED)),
    *(
        Transition(VALID, status="False", reason=reason)
        for reason in (
            BAD_LOCATION,
            BAD_HINT,
            NO_PROTOCOL,
            UNSUPPORTED,
            NO_ADDRESS,
            NOT_ALLOWED,
            NOT_SHARED,
        )
    ),
)
"""What becomes an event when it becomes so."""


def conditions(
    observed: Observed, choice: Choice, outcome: WriteOutcome, generation: int | None
) -> tuple[Condition, ...]:
    """The conditions of a device; those of the agent stay as they are."""
    known, claims = observed.status.conditions, _claims(observed, choice, outcome)
    return set_conditions(known, claims, generation=generation, now=observed.now)


def _claims(observed: Observed, choice: Choice, outcome: WriteOutcome) -> Iterator[ConditionClaim]:
    ready = _refused(outcome) or _ready(observed, choice)
    reachable = unknown_reachable(observed, choice, ready)
    yield _scheduled(observed, choice)
    yield ready
    yield _valid(observed)
    if reachable is not None:
        yield reachable


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
        served = observed.not_served
        return ConditionClaim(SCHEDULED, "False", served.reason if served else SETTLING)
    if is_lost(observed, choice):
        return _stranded(observed, choice)
    decision, ours = choice.decision, observed.deployment
    if decision is not None:
        return ConditionClaim(
            SCHEDULED, "True", decision.kind, f"{decision.node}: {decision.reason}"
        )
    kind, reason = (ours.kind, ours.reason) if ours is not None else ("", "")
    message = f"{choice.node}: {reason}" if reason else choice.node
    return ConditionClaim(SCHEDULED, "True", kind or "Placed", message)


def _looked_after(observed: Observed) -> ConditionClaim:
    if observed.theirs is None:
        return ConditionClaim(SCHEDULED, "True", UNMANAGED, "the user looks after its deviceShifu")
    name = observed.theirs.metadata.name
    return ConditionClaim(SCHEDULED, "True", ADOPTED, f"the user's Deployment {name} serves it")


def _stranded(observed: Observed, choice: Choice) -> ConditionClaim:
    """What is said of a deviceShifu on a lost node."""
    if observed.hints.pinned or observed.hints.reschedule == "never":
        message = f"{choice.node} is lost, and it runs there or nowhere"
        return ConditionClaim(SCHEDULED, "False", PIN_LOST, message)
    if observed.held:
        message = "most nodes are lost at once: evacuation waits"
        return ConditionClaim(SCHEDULED, "False", MASS_LOSS, message)
    if observed.unplaced:
        return ConditionClaim(SCHEDULED, "False", NONE_FEASIBLE, observed.unplaced)
    return ConditionClaim(
        SCHEDULED, "False", NODE_LOST, f"{choice.node} is lost, and may come back"
    )


def _refused(outcome: WriteOutcome) -> ConditionClaim | None:
    """What is said where the server does not take what we write."""
    if not outcome.refusals:
        return None
    message = "; ".join(each.message for each in outcome.refusals)
    return ConditionClaim(READY, "False", outcome.refusals[0].reason, message)


def _ready(observed: Observed, choice: Choice) -> ConditionClaim:
    serving = observed.theirs if choice.yields else observed.deployment
    if choice.yields and serving is None:
        return ConditionClaim(READY, "Unknown", UNMANAGED, "there is no Deployment for it")
    if serving is None:
        served = observed.not_served
        reason = served.reason if served is not None else "NotCreated"
        return ConditionClaim(READY, "False", reason, served.message if served is not None else "")
    if is_superseding(observed, choice):
        return ConditionClaim(READY, "False", SUPERSEDING, "what served it before still ends")
    if is_lost(observed, choice):
        return ConditionClaim(READY, "Unknown", NODE_LOST, f"nothing is heard of {choice.node}")
    if serving.available and not choice.cause:
        if simulated(observed, choice):
            return ConditionClaim(READY, "True", SIMULATED, "its Deployment is up; nothing runs")
        return ConditionClaim(READY, "True", "Available", "its Deployment is up")
    if agentless(observed, choice):
        return ConditionClaim(READY, "False", NO_AGENT, "no pod of its Deployment is ready")
    return ConditionClaim(READY, "False", "Unavailable", "its Deployment is not up")


def _valid(observed: Observed) -> ConditionClaim:
    served = observed.not_served
    wrong = [(each.reason, each.message) for each in observed.hints.errors]
    if served is not None:
        wrong.insert(0, (served.reason, served.message))
    if observed.secret is not None and observed.secret.fault and observed.theirs is None:
        wrong.append((NOT_SHARED, observed.secret.fault))
    if wrong:
        message = "; ".join(message for _, message in wrong)
        return ConditionClaim(VALID, "False", wrong[0][0], message)
    shifu = observed.device.spec.device_shifu
    known = observed.config is not None or (shifu is not None and bool(shifu.instructions))
    if observed.theirs is None and not known:
        return ConditionClaim(
            VALID, "True", NO_INSTRUCTIONS, "no ConfigMap of instructions was found"
        )
    return ConditionClaim(VALID, "True", "Valid")


def silences(observed: Observed, choice: Choice, outcome: WriteOutcome) -> bool:
    """Whether what an agent said last holds no longer."""
    return takes_back(observed, choice, _refused(outcome) or _ready(observed, choice))
