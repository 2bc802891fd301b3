"""ValidateLease, ValidateControllerRevisionCreate: records of programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from quintant.cluster.apiserver.meta.field_errors import invalid, required
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.common import (
    validate_immutable,
    validate_nonnegative,
)
from quintant.core.errors import Cause


def validate_lease(lease: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with a Lease."""
    spec = lease["spec"]
    seconds = spec.get("leaseDurationSeconds")
    if seconds is not None and seconds <= 0:
        yield invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0")
    yield from validate_nonnegative("spec.leaseTransitions", spec.get("leaseTransitions"))


def validate_controller_revision(revision: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with a ControllerRevision."""
    data = revision.get("data")
    if data is None:
        yield required("data", "data is mandatory")
    elif not isinstance(data, dict):
        yield required("data", "data must be a valid JSON object")
    yield from validate_nonnegative("revision", revision.get("revision"))
    if live is not None:
        yield from validate_immutable("data", revision.get("data"), live.get("data"))


RECORDS: dict[str, Callable[[JsonObject, JsonObject | None], Iterator[Cause]]] = {
    "controllerrevisions": validate_controller_revision,
    "leases": validate_lease,
}
