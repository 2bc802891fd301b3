"""ConfirmNoEscalation, BindingAuthorized: no user grants more than he has, by role or by binding.

Whoever writes a role must hold everything it allows, or be allowed the verb `escalate` on it;
whoever binds one must hold it, or be allowed to `bind` it. Run on a draft, before it is validated.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from quintant.cluster.apiserver.authorization.bindings import GROUP, BoundRole
from quintant.cluster.apiserver.authorization.policy_rules import (
    EVERYTHING,
    RbacRule,
    compact_rules,
    uncovered_rules,
    words,
)
from quintant.cluster.apiserver.authorization.rbac import Authorizer, join_errors
from quintant.cluster.apiserver.golang.printing import quoted
from quintant.cluster.apiserver.kinds.draft import Draft, ObjectRef
from quintant.cluster.apiserver.meta.request_info import RequestInfo
from quintant.cluster.apiserver.meta.status import forbidden, not_found
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.meta.user import MASTERS, User

ROLES = frozenset({"roles", "clusterroles"})
BINDINGS = frozenset({"rolebindings", "clusterrolebindings"})
# Who cleans up after owners may always change these.
_COLLECTED = frozenset({"ownerReferences", "finalizers", "managedFields"})


class Escalation:
    """Checks what a write of a role or binding would give to somebody."""

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    def check(self, draft: Draft, user: User) -> None:
        """403 if the draft grants what the user does not hold."""
        resource = draft.target.kind.resource
        if resource.group != GROUP or MASTERS in user.groups or _only_collected(draft):
            return
        if resource.plural in ROLES:
            self._check_role(draft, user)
        elif resource.plural in BINDINGS:
            self._check_binding(draft, user)

    def _check_role(self, draft: Draft, user: User) -> None:
        target = draft.target
        if self._may(user, "escalate", target, target.kind.name, target.name):
            return
        self._check_held(user, draft, _rules(draft.obj))
        if _aggregates(draft.obj) or _aggregates(draft.live or {}):
            held = self._authorizer.rules_for(user, "").rules
            if uncovered_rules(held, EVERYTHING):
                text = "must have cluster-admin privileges to use the aggregationRule"
                raise forbidden(target.kind.resource, _name(draft), text)

    def _check_binding(self, draft: Draft, user: User) -> None:
        target, ref = draft.target, _ref(draft.obj)
        if self._may(user, "bind", target, f"{ref.kind.lower()}s", ref.name):
            return
        rules = self._authorizer.role(ref, target.namespace)
        if rules is None:
            raise not_found(target.kind.resource, ref.name)
        self._check_held(user, draft, rules)

    def _check_held(self, user: User, draft: Draft, wanted: Sequence[RbacRule]) -> None:
        holdings = self._authorizer.rules_for(user, draft.target.namespace)
        lacking = compact_rules(uncovered_rules(holdings.rules, wanted))
        if not lacking:
            return
        listed = "\n".join(sorted({str(rule) for rule in lacking}))
        text = (
            f"user {quoted(user.name)} (groups={words(user.groups)}) is attempting to grant RBAC "
            f"permissions not currently held:\n{listed}"
        )
        if holdings.missing_roles:
            text += f"; resolution errors: [{join_errors(list(holdings.missing_roles))}]"
        raise forbidden(draft.target.kind.resource, _name(draft), text)

    def _may(self, user: User, verb: str, target: ObjectRef, resource: str, name: str) -> bool:
        attributes = RequestInfo(
            verb, "", group=GROUP, resource=resource, namespace=target.namespace, name=name
        )
        return self._authorizer.decide(user, attributes).allowed


def _only_collected(draft: Draft) -> bool:
    """Whether only what garbage collectors change differs from the live object."""
    return draft.live is not None and _lasting(draft.obj) == _lasting(draft.live)


def _lasting(obj: JsonObject) -> JsonObject:
    metadata = obj["metadata"]
    kept = {name: metadata[name] for name in metadata if name not in _COLLECTED}
    return {**obj, "metadata": kept}


def _rules(role: JsonObject) -> list[RbacRule]:
    """The rules of a role that is not validated yet: an empty list may be null."""
    rules = [
        {name: value for name, value in rule.items() if value is not None}
        for rule in role.get("rules") or ()
    ]
    return msgspec.convert(rules, list[RbacRule])


def _ref(binding: JsonObject) -> BoundRole:
    return msgspec.convert(binding.get("roleRef") or {}, BoundRole)


def _aggregates(role: JsonObject) -> bool:
    return bool((role.get("aggregationRule") or {}).get("clusterRoleSelectors"))


def _name(draft: Draft) -> str:
    return str(draft.obj["metadata"].get("name", ""))
