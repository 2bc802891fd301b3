"""The account of the pods, and what it may: tell of its own height and upgrade. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from quintant.api.core import ServiceAccount
from quintant.api.rbac import GROUP as RBAC
from quintant.api.rbac import PolicyRule, Role, RoleBinding, RoleRef, Subject
from quintant.operators.cosmos.api import GROUP, VERSION_CHECK
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.builders.instances import app_name, labels, metadata, to_name

_FULL_NODES = "cosmosfullnodes"
_RULES = (
    PolicyRule(api_groups=("",), resources=("pods",), verbs=("get",)),
    PolicyRule(api_groups=(GROUP,), resources=(_FULL_NODES,), verbs=("get",)),
    PolicyRule(api_groups=(GROUP,), resources=(f"{_FULL_NODES}/status",), verbs=("patch",)),
)


@dataclass(frozen=True, slots=True)
class AccountObjects:
    """An account, what it may, and that it may."""

    account: ServiceAccount
    role: Role
    binding: RoleBinding


def account_name(full_node: CosmosFullNode) -> str:
    """The account that pods run under."""
    return full_node.spec.service_account_name or to_name(f"{app_name(full_node)}-vc-sa")


def build_account(full_node: CosmosFullNode) -> AccountObjects | None:
    """The objects of the account; None where the user brings one."""
    if full_node.spec.service_account_name:
        return None
    app, marks = app_name(full_node), labels(full_node, VERSION_CHECK)
    role = to_name(f"{app}-vc-r")
    subject = Subject(
        kind="ServiceAccount", name=account_name(full_node), namespace=full_node.metadata.namespace
    )
    return AccountObjects(
        ServiceAccount(metadata=metadata(full_node, account_name(full_node), marks, 0)),
        Role(metadata=metadata(full_node, role, marks, 0), rules=_RULES),
        RoleBinding(
            metadata=metadata(full_node, to_name(f"{app}-vc-rb"), marks, 0),
            role_ref=RoleRef(api_group=RBAC, kind="Role", name=role),
            subjects=(subject,),
        ),
    )
