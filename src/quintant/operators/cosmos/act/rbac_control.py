"""Keeps the account of the pods, its role, and the binding of both; none is ever deleted here."""

from __future__ import annotations

from quintant.api.core import ServiceAccount
from quintant.api.rbac import Role, RoleBinding
from quintant.core.object import Object
from quintant.operators.cosmos.act.service_control import adoptable
from quintant.operators.cosmos.builders.instances import MARK
from quintant.operators.cosmos.builders.rbac_builder import build_account
from quintant.operators.cosmos.observe.observed import Observed
from quintant.operators.cosmos.observe.triggers import OWNER
from quintant.runtime.apply import Policy, control
from quintant.runtime.cache.client import Client

POLICY = Policy(mark=MARK, update="replace", delete="leave", adopts=adoptable)
KINDS: tuple[type[Object], ...] = (ServiceAccount, Role, RoleBinding)


async def control_account(client: Client, observed: Observed) -> None:
    """Bring account, role and binding in line, in this order."""
    crd = observed.crd
    built = build_account(crd)
    if built is None:
        return
    where, index = crd.metadata.namespace, (OWNER, crd.metadata.uid)
    for want in (built.account, built.role, built.binding):
        have = await client.list(type(want), where, index=index)
        await control(client, (want,), have, by=crd, policy=POLICY)
