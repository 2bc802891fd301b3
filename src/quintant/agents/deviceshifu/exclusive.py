"""Of a device that only one may speak to: who may, and from when on. Pure.

    SERVED --the server is out of reach for `release` seconds--> RELEASED
    SERVED --it is placed on another node----------------------> RELEASED
    RELEASED --the server says it is placed here, and the agent before has had its time--> SERVED

An agent that is cut off lets go `release` seconds after the server last said that the device is
here. The controller starts another one no earlier than that; and where the node is lost, but not
the agent on it, the other one waits until the first has heard of it, or has let go.
"""

from __future__ import annotations

from datetime import datetime

from quintant.agents.deviceshifu.device import DeviceState

RELEASE_SECONDS = 45.0
"""Where no controller says otherwise: less than it takes to declare a node lost."""
LOOK_SECONDS, LOOKS = 5.0, 5
"""Between two looks at the device; within `release` there are so many at least."""
SKEW_SECONDS = 10.0
"""By which the clocks of controller and agent may differ."""
UNREACHABLE = "the API server cannot be reached"


def look_seconds(release: float) -> float:
    """How long to wait between two looks."""
    return min(LOOK_SECONDS, release / LOOKS)


def withheld(state: DeviceState, node: str, release: float, now: datetime) -> str:
    """Why the agent on a node may not speak to a device; empty if it may."""
    if not state.spec.exclusive or not state.node or not node:
        return ""
    if state.node != node:
        return f"it is placed on {state.node[:64]}"
    if state.previous and _passed(state.since, now) < release + SKEW_SECONDS:
        return f"the agent on {state.previous[:64]} may still speak to it"
    return ""


def _passed(since: str, now: datetime) -> float:
    """Seconds since a moment; what is none was long ago, for it would never pass."""
    try:
        moment = datetime.fromisoformat(since)
        return (now - moment).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return float("inf")
