"""What is looked for at the provider when the id of an infrastructure is not known. Pure."""

from __future__ import annotations

from quintant.operators.infra.observed.cluster import Holding, Observed
from quintant.operators.infra.observed.marks import InfrastructureMarks


def perhaps_created(observed: Observed) -> bool:
    """Whether there may be an infrastructure whose id the status does not have.

    A request to create it may have been carried out. Or what is on record was done to one, and its
    id is lost, by whoever damaged the status.
    """
    operation = observed.status.operation
    if operation is None or observed.status.cluster_id:
        return False
    return operation.type != "Create" or operation.last_attempt_at is not None


def rival(observed: Observed, id: str) -> Holding | None:
    """The other Cluster that has an infrastructure, and is still there."""
    holding = observed.holdings.get(id)
    if holding is None or holding.uid == observed.cluster.metadata.uid or not holding.live:
        return None
    return holding


def named_ids(observed: Observed) -> tuple[str, ...]:
    """The infrastructures that are named by status, spec or annotation, or were looked for."""
    status, ids = observed.status, observed.infrastructures
    named = (
        status.cluster_id,
        *status.duplicates,
        observed.cluster.spec.adopt_infrastructure_id,
        observed.noted_id,
        *(ids if isinstance(ids, tuple) else ()),
    )
    return tuple(sorted({id for id in named if id}))


def wished_id(observed: Observed) -> str:
    """The infrastructure to take over instead of creating one; empty if there is none.

    A Cluster that has one already takes that: only its status was lost.
    """
    if wanted := observed.cluster.spec.adopt_infrastructure_id:
        return wanted
    if observed.held:
        return observed.held[0]
    noted = observed.noted_id
    # What an annotation names that is another's was copied from it.
    return noted if noted and rival(observed, noted) is None else ""


def sought_marks(observed: Observed) -> InfrastructureMarks:
    """The marks by which it is looked for: of the request, and of the Cluster."""
    operation = observed.status.operation
    create = operation is not None and operation.type == "Create"
    token = operation.token if operation is not None and create else ""
    return InfrastructureMarks(token, observed.cluster.metadata.uid, observed.instance)
