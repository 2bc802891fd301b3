"""What can happen to a container: the events that lead its life from one state to the next.

Values only; what each makes of a life is in `life.step`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Check(Enum):
    """The three questions that a probe may ask."""

    STARTUP = "Startup"
    READINESS = "Readiness"
    LIVENESS = "Liveness"


@dataclass(frozen=True, slots=True)
class Started:
    """A process runs. Without a startup probe it is up, without a readiness probe it is ready."""

    id: str
    up: bool = True
    ready: bool = True


@dataclass(frozen=True, slots=True)
class Refused:
    """It cannot be started; it is tried again as often as a container that crashes."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Probed:
    """A probe has come to a conclusion."""

    check: Check
    passed: bool
    ready: bool = True
    """Of a startup probe: whether there is no readiness probe to wait for."""


@dataclass(frozen=True, slots=True)
class Outdated:
    """The pod names another image for it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """It is to end until then."""

    until: float


@dataclass(frozen=True, slots=True)
class Signalled:
    """SIGTERM was sent; perhaps late, after a hook that took its time."""


@dataclass(frozen=True, slots=True)
class Killed:
    """SIGKILL was sent."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The process is gone. A negative code is the signal that ended it."""

    code: int
    message: str = ""
    reason: str = ""
    """If it is another than the code says, such as OOMKilled."""


@dataclass(frozen=True, slots=True)
class Renewed:
    """It is to be started again."""


@dataclass(frozen=True, slots=True)
class Nudged:
    """What it waited for may be there: it need not wait any longer."""


Event = (
    Started | Refused | Probed | Outdated | Asked | Signalled | Killed | Ended | Renewed | Nudged
)
