"""Conditions in words: what one means, how it is, and what to do. Pure.

What is said of an operator's own conditions comes from their reason and message; the types that
all kinds share are explained here.
"""

from __future__ import annotations

from typing import NamedTuple

from quintant.api.meta import Condition
from quintant.console.links import cut
from quintant.runtime.observe.system_panel import ObjectState

NEGATIVE = ("Pressure", "Unavailable", "Failure", "Failed", "Stalled", "Degraded", "Disrupted")
"""How types end that are bad when they are True."""
WAIT = "Nothing, unless it lasts: it is on its way."
LOOK = "Read the message and the events below; the object's own page in the docs has the reasons."


class ConditionMeaning(NamedTuple):
    """What a type of conditions is about."""

    meaning: str
    advice: str


MEANINGS = {
    "Ready": ConditionMeaning("Whether it does what it is for.", LOOK),
    "Reconciling": ConditionMeaning("Something is being brought about.", WAIT),
    "Stalled": ConditionMeaning(
        "It waits for a person: no controller can go on by itself.",
        "Change what the message names; the controller looks again at once.",
    ),
    "Available": ConditionMeaning("Whether enough of it runs to be used.", LOOK),
    "Progressing": ConditionMeaning("Whether a rollout advances.", WAIT),
    "Scheduled": ConditionMeaning("Whether a node was found for it.", LOOK),
    "PodScheduled": ConditionMeaning("Whether a node was found for the pod.", LOOK),
    "Initialized": ConditionMeaning("Whether init containers have ended well.", LOOK),
    "ContainersReady": ConditionMeaning("Whether every container is ready.", LOOK),
    "Complete": ConditionMeaning("Whether the work is done.", WAIT),
    "Failed": ConditionMeaning("Whether the work was given up.", LOOK),
    "ConfigValid": ConditionMeaning("Whether what a user wrote makes sense.", LOOK),
    "DeviceReachable": ConditionMeaning("Whether the device answers its deviceShifu.", LOOK),
    "DeviceShifuReady": ConditionMeaning("Whether the deviceShifu of the device runs.", LOOK),
    "Writable": ConditionMeaning("Whether clients can write to the network.", LOOK),
    "MemoryPressure": ConditionMeaning("The node has too little memory.", LOOK),
    "DiskPressure": ConditionMeaning("The node has too little disk space.", LOOK),
    "PIDPressure": ConditionMeaning("The node has too many processes.", LOOK),
}
UNKNOWN = ConditionMeaning("A condition of this kind's own.", LOOK)


def judge_condition(condition: Condition) -> ObjectState:
    """How an object is by one of its conditions."""
    if condition.status not in ("True", "False"):
        return "unknown"
    true = condition.status == "True"
    if condition.type == "Reconciling":
        return "working" if true else "well"
    if condition.type.endswith(NEGATIVE):
        return "broken" if true else "well"
    return "well" if true else "broken"


def condition_row(condition: Condition, docs: str, whole: ObjectState) -> dict[str, str]:
    """A condition, explained; of an object on its way nothing is broken for what is not yet."""
    state = judge_condition(condition)
    if (state, whole) == ("broken", "working"):
        state = "working"
    meaning = MEANINGS.get(condition.type, UNKNOWN)
    return {
        "type": cut(condition.type, 200), "status": cut(condition.status, 200),
        "state": state, "reason": cut(condition.reason, 200), "message": cut(condition.message),
        "since": condition.last_transition_time or "", "meaning": meaning.meaning,
        "advice": "" if state == "well" else meaning.advice, "docs": docs,
    }  # fmt: skip
