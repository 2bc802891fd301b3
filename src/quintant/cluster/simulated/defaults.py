"""KWOK getDefaultPodStages: the stages of every cluster: a healthy life, and others to choose.

A pod chooses by its annotation `simulated.quintant.dev/fate`; a healthy one has none.
"""

from __future__ import annotations

from quintant.cluster.simulated.stages import (
    ANY,
    BACK_OFF,
    NEW,
    Stage,
    StageEvent,
    StageNext,
    StageSelector,
)

START_SECONDS = 0.5
"""What it takes a container to start: long enough to be seen, short enough not to be waited for."""
JOB_SECONDS = 2.0
"""What it takes the pod of a Job to do its work."""
STOP_SECONDS = 0.2
"""What it takes a container to stop when it is asked to."""
CRASH_SECONDS = 5.0
BACKOFF_SECONDS = 10.0
"""What a kubelet waits before it starts again what failed; then twice as long."""
SLOW_SECONDS = 30.0

_RUNNING = StageNext(phase="Running", state="running", ready=True)
_FAILED = StageNext(phase="Failed", state="terminated", reason="Error", exit_code=1, ready=False)


DEFAULTS = (
    # A pod that does not stop when it is asked to.
    Stage(name="stuck", match=StageSelector(fate="stuck", deleting=True)),
    Stage(
        name="stop",
        match=StageSelector(fate=ANY, deleting=True),
        delay=STOP_SECONDS,
        next=StageNext(delete=True),
    ),
    Stage(
        name="start",
        match=StageSelector(phase="Pending"),
        delay=START_SECONDS,
        jitter=START_SECONDS,
        next=_RUNNING,
    ),
    # A program that ends, and one that is started again because it failed.
    Stage(name="program", match=StageSelector(phase="Running", state="running"), program=True),
    Stage(
        name="again",
        match=StageSelector(phase="Running", reason=BACK_OFF),
        delay=BACKOFF_SECONDS,
        growth=2.0,
        next=StageNext(state="running", ready=True, restart=True),
        program=True,
    ),
    Stage(
        name="complete",
        match=StageSelector(phase="Running", owner="Job"),
        delay=JOB_SECONDS,
        jitter=JOB_SECONDS,
        next=StageNext(phase="Succeeded", state="terminated", reason="Completed", ready=False),
    ),
    # A program that ends in an error soon after every start.
    Stage(
        name="crash",
        match=StageSelector(fate="crash", phase="Pending"),
        delay=START_SECONDS,
        next=_RUNNING,
    ),
    Stage(
        name="crashed",
        match=StageSelector(fate="crash", state="running"),
        delay=CRASH_SECONDS,
        next=StageNext(state="waiting", reason=BACK_OFF, exit_code=1, ready=False),
        event=StageEvent(
            reason="BackOff", message="Back-off restarting failed container", type="Warning"
        ),
    ),
    Stage(
        name="crash again",
        match=StageSelector(fate="crash", reason=BACK_OFF),
        delay=BACKOFF_SECONDS,
        growth=2.0,
        next=StageNext(state="running", ready=True, restart=True),
    ),
    # An image that cannot be had.
    Stage(
        name="pull",
        match=StageSelector(fate="pull", state=NEW),
        delay=START_SECONDS,
        next=StageNext(state="waiting", reason="ImagePullBackOff", ready=False),
        event=StageEvent(reason="Failed", message="Error: ImagePullBackOff", type="Warning"),
    ),
    # A program that runs and is never ready.
    Stage(
        name="unready",
        match=StageSelector(fate="unready", phase="Pending"),
        delay=START_SECONDS,
        next=StageNext(phase="Running", state="running", ready=False),
    ),
    # A pod that fails for good.
    Stage(
        name="fail",
        match=StageSelector(fate="fail", phase="Pending"),
        delay=START_SECONDS,
        next=_RUNNING,
    ),
    Stage(
        name="failed",
        match=StageSelector(fate="fail", phase="Running"),
        delay=CRASH_SECONDS,
        next=_FAILED,
    ),
    # A pod that ends well.
    Stage(
        name="end",
        match=StageSelector(fate="end", phase="Pending"),
        delay=START_SECONDS,
        next=_RUNNING,
    ),
    Stage(
        name="ended",
        match=StageSelector(fate="end", phase="Running"),
        delay=CRASH_SECONDS,
        next=StageNext(phase="Succeeded", state="terminated", reason="Completed", ready=False),
    ),
    # A program that takes its time to start.
    Stage(
        name="slow",
        match=StageSelector(fate="slow", phase="Pending"),
        delay=SLOW_SECONDS,
        next=_RUNNING,
    ),
)
"""In the order in which they are tried."""
