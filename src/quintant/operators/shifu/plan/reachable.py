"""Whose word DeviceReachable is: an agent's, or ours that none has one. Pure.

Only an agent says that a device answers. What it said holds until no agent runs any more, or until
another takes its place that may say nothing: a program of the user's own, or a pod that an embedded
cluster simulates. Then it is taken back, once: an agent that speaks afterwards is alive, whatever
its pod looks like.
"""

from __future__ import annotations

from datetime import datetime

from quintant.api.meta import ConditionClaim, condition_of
from quintant.operators.shifu.api.device import REACHABLE, READY, EdgeDeviceStatus
from quintant.operators.shifu.observed.device import Observed
from quintant.operators.shifu.observed.device_view import FOREIGN, NO_AGENT, OUR_WORDS, SIMULATED
from quintant.operators.shifu.plan.device import LEAVING_SECONDS, Choice
from quintant.operators.shifu.rules.moments import seconds_since

FOREIGN_SECONDS = 120.0
"""How long an agent that is not ours may say nothing before we say so."""
SILENT_SECONDS = 10.0
"""How long no pod is ready before what its agent said counts no longer: most are back by then."""
SUPERSEDING = "Superseding"
_MESSAGES = {
    NO_AGENT: "no agent speaks for it",
    SIMULATED: "its pod is simulated: nothing runs that could ask it",
    FOREIGN: "its agent reports nothing; "
    "for upstream's agents apply deploy/shifu/upstream-agents",
}  # fmt: skip


def unknown_reachable(
    observed: Observed, choice: Choice, ready: ConditionClaim
) -> ConditionClaim | None:
    """What we say of DeviceReachable beside `ready`; None where the agent has the word, or may."""
    reason = _reason(observed, choice, ready)
    return ConditionClaim(REACHABLE, "Unknown", reason, _MESSAGES[reason]) if reason else None


def _reason(observed: Observed, choice: Choice, ready: ConditionClaim) -> str:
    known = condition_of(observed.status.conditions, REACHABLE)
    spoken = known is not None and known.reason not in OUR_WORDS
    if spoken and not takes_back(observed, choice, ready):
        return ""
    if simulated(observed, choice):
        return SIMULATED
    if spoken and is_foreign(observed, choice) and ready.status == "True":
        return FOREIGN
    if _silent(observed, choice):
        return FOREIGN
    gone = known is not None and (spoken or known.reason == SIMULATED)
    return NO_AGENT if gone else ""


def takes_back(observed: Observed, choice: Choice, ready: ConditionClaim) -> bool:
    """Whether what an agent said last holds no longer, by what is said of its pod now."""
    before = condition_of(observed.status.conditions, READY)
    if before is not None and before.reason == ready.reason:
        return False
    # Upstream's agents drop conditions when they speak: that none is there is no news of a pod.
    came = before is not None and ready.status == "True"
    replaced = is_foreign(observed, choice) or simulated(observed, choice)
    return agentless(observed, choice) or (came and replaced)


def agentless(observed: Observed, choice: Choice) -> bool:
    """Whether no agent of ours runs for a device, and has not for a while."""
    if choice.yields:
        return False
    if is_lost(observed, choice) or not choice.node:
        return True
    up = condition_of(observed.status.conditions, READY)
    if up is None or up.status != "False" or any(pod.ready for pod in observed.pods):
        return False
    return (seconds_since(up.last_transition_time, observed.now) or 0.0) >= SILENT_SECONDS


def is_lost(observed: Observed, choice: Choice) -> bool:
    """Whether nothing runs any more where its deviceShifu is to be."""
    node = observed.node
    if choice.yields or node is None or not choice.node:
        return False
    return node.name == choice.node and node.lost


def is_foreign(observed: Observed, choice: Choice) -> bool:
    """Whether a program of the user's own is, or is to be, the agent of a device."""
    shifu = observed.device.spec.device_shifu
    own = shifu is not None and bool(shifu.image)
    return observed.theirs is not None if choice.yields else own


def is_superseding(observed: Observed, choice: Choice) -> bool:
    """Whether an agent of ours may still speak where the user's own serves a device by now."""
    if not choice.yields or observed.deployment is not None:
        return choice.yields and observed.theirs is not None
    before = condition_of(observed.status.conditions, READY)
    if before is None or before.reason != SUPERSEDING:
        return False
    ending = seconds_since(before.last_transition_time, observed.now) or 0.0
    return ending < LEAVING_SECONDS and any(pod.managed for pod in observed.pods)


def simulated(observed: Observed, choice: Choice) -> bool:
    """Whether nothing runs behind the pods that are ready."""
    ready = [
        pod for pod in observed.pods
        if pod.ready and not pod.deleting and pod.managed is not choice.yields
    ]  # fmt: skip
    return bool(ready) and all(pod.simulated for pod in ready)


def _silent(observed: Observed, choice: Choice) -> bool:
    """Whether an agent of the user's own has said nothing for long."""
    serving = observed.theirs if choice.yields else observed.deployment
    if serving is None or not serving.available or not is_foreign(observed, choice):
        return False
    condition = condition_of(observed.status.conditions, REACHABLE)
    if condition is not None:
        return condition.reason == FOREIGN and observed.status.phase in ("", "Pending")
    quiet = quiet_seconds(observed.status, observed.now)
    return quiet is not None and quiet >= FOREIGN_SECONDS


def quiet_seconds(status: EdgeDeviceStatus, now: datetime) -> float | None:
    """For how long a Deployment was up without a word of its agent; None if it is not, or spoke."""
    up = condition_of(status.conditions, READY)
    condition = condition_of(status.conditions, REACHABLE)
    quiet = status.phase in ("", "Pending") and condition is None
    if up is None or up.status != "True" or not quiet:
        return None
    return seconds_since(up.last_transition_time, now)
