"""Jobs: pods that run to an end, once or on time. Pod templates are opaque, as in `api.apps`."""

from __future__ import annotations

from quintant.api.meta import Condition, LabelSelector, ObjectReference
from quintant.core.object import Model, Object, ObjectMeta, Opaque
from quintant.core.resource import resource


class PodFailurePolicyOnExitCodesRequirement(Model):
    """Exit codes of a container, or of any if none is named: `In` these values, or `NotIn`."""

    operator: str
    values: tuple[int, ...] = ()
    container_name: str | None = None


class PodFailurePolicyOnPodConditionsPattern(Model):
    """A condition that a pod has."""

    type: str
    status: str = ""
    """Nothing means True."""


class PodFailurePolicyRule(Model):
    """What a failed pod means: FailJob, FailIndex, Ignore, or Count, as all others do."""

    action: str
    on_exit_codes: PodFailurePolicyOnExitCodesRequirement | None = None
    on_pod_conditions: tuple[PodFailurePolicyOnPodConditionsPattern, ...] = ()


class PodFailurePolicy(Model):
    """Rules, of which the first that fits a failed pod counts."""

    rules: tuple[PodFailurePolicyRule, ...] = ()


class SuccessPolicyRule(Model):
    """Which indexes, or how many of them, are enough."""

    succeeded_indexes: str | None = None
    succeeded_count: int | None = None


class SuccessPolicy(Model):
    """Rules, of which one is enough."""

    rules: tuple[SuccessPolicyRule, ...] = ()


class JobSpec(Model):
    """What to run, how often to retry, and when to be tidied away."""

    template: Opaque = Opaque(b"{}")
    parallelism: int | None = None
    completions: int | None = None
    completion_mode: str | None = None
    backoff_limit: int | None = None
    backoff_limit_per_index: int | None = None
    max_failed_indexes: int | None = None
    active_deadline_seconds: int | None = None
    ttl_seconds_after_finished: int | None = None
    selector: LabelSelector | None = None
    manual_selector: bool | None = None
    pod_replacement_policy: str | None = None
    pod_failure_policy: PodFailurePolicy | None = None
    success_policy: SuccessPolicy | None = None
    managed_by: str | None = None
    suspend: bool | None = None


class JobCondition(Condition):
    """A condition of a job, which also tells when it was looked at."""

    last_probe_time: str | None = None
    """When it was last looked at."""


class UncountedTerminatedPods(Model):
    """Uids of pods that ended and are not in the counts yet: their finalizers may be there."""

    succeeded: tuple[str, ...] = ()
    """The uids of pods that succeeded."""
    failed: tuple[str, ...] = ()
    """The uids of pods that failed."""


class JobStatus(Model):
    """How many pods ran, and how they ended."""

    active: int = 0
    """Pods that are pending or running."""
    ready: int | None = None
    """Pods that are ready."""
    succeeded: int = 0
    """Pods that succeeded."""
    failed: int = 0
    """Pods that failed."""
    terminating: int | None = None
    """Pods that are being ended."""
    start_time: str | None = None
    """When the Job began."""
    completion_time: str | None = None
    """When the Job succeeded."""
    completed_indexes: str = ""
    """The indexes that succeeded, such as 1,3-5."""
    failed_indexes: str | None = None
    """The indexes that failed, such as 1,3-5."""
    uncounted_terminated_pods: UncountedTerminatedPods | None = None
    conditions: tuple[JobCondition, ...] = ()
    """What is true of it, one condition of each type."""


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


class JobTemplateSpec(Model):
    """A job to be made."""

    metadata: ObjectMeta = ObjectMeta()
    spec: Opaque = Opaque(b"{}")


class CronJobSpec(Model):
    """When to make a job, of what, and how many to keep."""

    schedule: str = ""
    time_zone: str | None = None
    starting_deadline_seconds: int | None = None
    concurrency_policy: str = ""
    suspend: bool | None = None
    job_template: JobTemplateSpec = JobTemplateSpec()
    successful_jobs_history_limit: int | None = None
    failed_jobs_history_limit: int | None = None


class CronJobStatus(Model):
    """Which jobs run, and when the last ones began and ended."""

    active: tuple[ObjectReference, ...] = ()
    last_schedule_time: str | None = None
    last_successful_time: str | None = None


@resource(group="batch", version="v1", status=True)
class CronJob(Object):
    """Jobs that are made on time."""

    spec: CronJobSpec = CronJobSpec()
    status: CronJobStatus = CronJobStatus()
