"""Jobs: pods that run to an end. The pod template is opaque, as in `api.apps`."""

from __future__ import annotations

from quintant.api.meta import Condition, LabelSelector
from quintant.runtime.object import Model, Object, Opaque
from quintant.runtime.resource import resource


class JobSpec(Model):
    """What to run, how often to retry, and when to be tidied away."""

    template: Opaque = Opaque(b"{}")
    parallelism: int | None = None
    completions: int | None = None
    completion_mode: str | None = None
    backoff_limit: int | None = None
    active_deadline_seconds: int | None = None
    ttl_seconds_after_finished: int | None = None
    selector: LabelSelector | None = None
    manual_selector: bool | None = None
    pod_replacement_policy: str | None = None
    suspend: bool | None = None


class JobStatus(Model):
    """How many pods ran, and how they ended."""

    active: int = 0
    ready: int | None = None
    succeeded: int = 0
    failed: int = 0
    terminating: int | None = None
    start_time: str | None = None
    completion_time: str | None = None
    conditions: tuple[Condition, ...] = ()


@resource(group="batch", version="v1", status=True)
class Job(Object):
    """Pods that run until enough of them succeed."""

    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()

    @property
    def outcome(self) -> str:
        """`Complete`, `Failed`, or empty while it runs."""
        ends = ("Complete", "Failed")
        held = (c.type for c in self.status.conditions if c.status == "True" and c.type in ends)
        return next(held, "")
