"""Keeps the account of the pods, its role, and the binding of both; none is ever deleted here."""

from __future__ import annotations

from quintant.api.core import ServiceAccount
from quintant.api.rbac import Role, RoleBinding
from quintant.core.object import Object
from quintant.operators.cosmos.builders.instances import MARK
from quintant.operators.cosmos.builders.rbac_builder import build_account
from quintant.operators.cosmos.observe.triggers import OWNER
from quintant.operators.cosmos.observed.full_node import Observed
from quintant.operators.cosmos.plan.children import adoptable
from quintant.runtime.apply import Policy, control
from quintant.runtime.cache.client import Client

POLICY = Policy(mark=MARK, update="replace", delete="leave", adopts=adoptable)
KINDS: tuple[type[Object], ...] = (ServiceAccount, Role, RoleBinding)


async def control_account(client: Client, observed: Observed) -> None:
    """Bring account, role and binding in line, in this order."""
    full_node = observed.full_node
    built = build_account(full_node)
    if built is None:
        return
    namespace, index = full_node.metadata.namespace, (OWNER, full_node.metadata.uid)
    for want in (built.account, built.role, built.binding):
        have = await client.list(type(want), namespace, index=index)
        await control(client, (want,), have, by=full_node, policy=POLICY)
