"""PodLifecycleEvent: the events that lead a container from one state to the next.

Values only; what each makes of a lifecycle is in `lifecycle.step`.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class ProbeType(Enum):
    """The three questions that a probe may ask."""

    STARTUP = "Startup"
    READINESS = "Readiness"
    LIVENESS = "Liveness"


class Started(Struct, frozen=True):
    """A process runs. Without a startup probe it is up, without a readiness probe it is ready."""

    id: str
    up: bool = True
    ready: bool = True


class StartFailed(Struct, frozen=True):
    """It cannot be started; it is tried again as often as a container that crashes."""

    reason: str
    message: str


class Probed(Struct, frozen=True):
    """A probe has come to a conclusion."""

    check: ProbeType
    passed: bool
    ready: bool = True
    """Of a startup probe: whether there is no readiness probe to wait for."""


class ImageChanged(Struct, frozen=True):
    """The pod names another image for it."""


class StopRequested(Struct, frozen=True):
    """It is to end until then."""

    until: float


class Signalled(Struct, frozen=True):
    """SIGTERM was sent; perhaps late, after a hook that took its time."""


class Killed(Struct, frozen=True):
    """SIGKILL was sent."""


class Exited(Struct, frozen=True):
    """The process is gone. A negative code is the signal that ended it."""

    code: int
    message: str = ""
    reason: str = ""
    """If it is another than the code says, such as OOMKilled."""


class Restarting(Struct, frozen=True):
    """It is to be started again."""


class RetryNow(Struct, frozen=True):
    """What it waited for may be there: it need not wait any longer."""


LifecycleEvent = (
    Started
    | StartFailed
    | Probed
    | ImageChanged
    | StopRequested
    | Signalled
    | Killed
    | Exited
    | Restarting
    | RetryNow
)
