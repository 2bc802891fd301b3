"""StatefulJob: what runs, how often, and on copies of which volumes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta

from quintant.api.batch import JobStatus
from quintant.api.kubernetes.core_v1 import PodTemplateSpec
from quintant.api.meta import Condition
from quintant.core.object import Custom, Model, Opaque
from quintant.core.resource import resource
from quintant.core.schema.markers import date_time, duration, list_map, shaped
from quintant.operators.cosmos.api import GROUP
from quintant.operators.cosmos.api.chain import Count, Seconds

VERSION = "v1alpha1"
MOST_HISTORY = 5
Moment = Annotated[str, date_time()]


class StatefulJobTemplate(Model):
    """How a job ends."""

    active_deadline_seconds: Seconds | None = None
    """86400 if not given."""
    backoff_limit: Count | None = None
    """5 if not given."""
    ttl_seconds_after_finished: Count | None = None
    """900 if not given; the volume goes with the job."""


class StatefulJobClaim(Model):
    """The volume that is made from a copy."""

    storage_class_name: str
    """The StorageClass of the volume."""
    access_modes: Annotated[tuple[str, ...], Meta(max_length=8)] = ()
    """ReadWriteOnce if none is given."""


class StatefulJobSpec(Model):
    """What to run, and on what."""

    selector: Mapping[str, str]
    """The labels of VolumeSnapshots; the newest that is ready is taken."""
    pod_template: Annotated[Opaque, shaped(PodTemplateSpec)]
    """The pod; the volume is called `snapshot`. See `kubectl explain job.spec.template`."""
    volume_claim_template: StatefulJobClaim
    interval: Annotated[str, duration(), Meta(max_length=64)] | None = None
    """From the start of one job to that of the next; 24h if not given."""
    job_template: StatefulJobTemplate = StatefulJobTemplate()


class StatefulJobStatus(Model):
    """What ran, and how it ended."""

    observed_generation: int | None = None
    """The generation of the spec that this status is about."""
    status: str | None = None
    """What is wrong, in words."""
    job_history: tuple[JobStatus, ...] = ()
    """Newest first, at most five."""
    last_started: Moment | None = None
    """When the last job was begun."""
    conditions: Annotated[tuple[Condition, ...], list_map("type")] = ()
    """What is true of it, one condition of each type."""


@resource(
    group=GROUP,
    version=VERSION,
    status=True,
    short=["sj"],
    columns={
        "Ready": r'.status.conditions[?(@.type=="Ready")].status',
        "LastStarted": ".status.lastStarted",
        "Age": ".metadata.creationTimestamp",
    },
)
class StatefulJob(Custom[StatefulJobSpec, StatefulJobStatus]):
    """A job on an interval, on a volume made from the newest VolumeSnapshot."""
