"""Keeps the Services: they are made and changed, and not deleted, for an address outside is known
to others. Where the user says so, those without such an address go with their instances."""

from __future__ import annotations

from collections.abc import Sequence

from quintant.api.core import Service
from quintant.core.object import Object
from quintant.core.owner import controller_of
from quintant.operators.cosmos.api import COMPONENT_LABEL, CREATED_BY_LABEL, NAME_LABEL
from quintant.operators.cosmos.builders.instances import MARK
from quintant.operators.cosmos.builders.service_builder import build_services
from quintant.operators.cosmos.observe.observed import Observed
from quintant.operators.cosmos.observe.triggers import OWNER
from quintant.runtime.apply import Policy, control
from quintant.runtime.cache.client import Client

_IDENTITY = (CREATED_BY_LABEL, COMPONENT_LABEL, NAME_LABEL)
_INSIDE = "ClusterIP"


def adoptable(have: Object, want: Object) -> bool:
    """Whether nobody controls an object, and it says by its labels that it is this child."""
    if controller_of(have) is not None:
        return False
    held, wanted = have.metadata.labels, want.metadata.labels
    return all(held.get(key) == wanted[key] for key in _IDENTITY)


POLICY = Policy(mark=MARK, delete="leave", adopts=adoptable)


async def control_services(client: Client, observed: Observed) -> Sequence[Service]:
    """Bring the Services in line; those that there are then."""
    crd = observed.crd
    wanted = build_services(crd)
    changes = await control(client, wanted, observed.services, by=crd, policy=POLICY)
    if crd.spec.service.prune_on_scale_down:
        for surplus in changes.delete:
            if surplus.spec.type == _INSIDE:
                await client.delete(surplus)
    return await client.list(Service, crd.metadata.namespace, index=(OWNER, crd.metadata.uid))
