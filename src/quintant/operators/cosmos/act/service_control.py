"""Keeps the Services: they are made and changed, and not deleted, for an address outside is known
to others. Where the user says so, those without such an address go with their instances."""

from __future__ import annotations

from collections.abc import Sequence

from quintant.api.core import Service
from quintant.operators.cosmos.builders.instances import MARK
from quintant.operators.cosmos.builders.service_builder import build_services
from quintant.operators.cosmos.observe.triggers import OWNER
from quintant.operators.cosmos.observed.full_node import Observed
from quintant.operators.cosmos.plan.children import adoptable, surplus_services
from quintant.runtime.apply import Policy, control
from quintant.runtime.cache.client import Client

POLICY = Policy(mark=MARK, delete="leave", adopts=adoptable)


async def control_services(client: Client, observed: Observed) -> Sequence[Service]:
    """Bring the Services in line; those that there are then."""
    full_node = observed.full_node
    wanted = build_services(full_node)
    changes = await control(client, wanted, observed.services, by=full_node, policy=POLICY)
    for surplus in surplus_services(full_node, changes.delete):
        await client.delete(surplus)
    return await client.list(
        Service, full_node.metadata.namespace, index=(OWNER, full_node.metadata.uid)
    )
