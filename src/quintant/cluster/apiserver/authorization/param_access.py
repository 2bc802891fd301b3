"""authorizeCreate, authorizeUpdate: who may make a policy look at parameters.

A policy tells, by what it admits, of the objects that it compares with. So its author has to be
able to read all objects of the kind of its parameters, and the author of a binding those that it
refers to.
"""

from __future__ import annotations

from quintant.cluster.apiserver.authorization.rbac import Authorizer
from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.catalog import Catalog
from quintant.cluster.apiserver.kinds.draft import Draft
from quintant.cluster.apiserver.meta.field_errors import forbidden, invalid_object
from quintant.cluster.apiserver.meta.request_info import RequestInfo
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.meta.user import MASTERS, User
from quintant.cluster.apiserver.storage.revision_log import RevisionStore

_GROUP = "admissionregistration.k8s.io"
_POLICIES = {
    f"{flavour}admissionpolicies.{_GROUP}": f"{flavour}admissionpolicies"
    for flavour in ("validating", "mutating")
}
_BINDINGS = {
    f"{flavour}admissionpolicybindings.{_GROUP}": f"{flavour}admissionpolicies"
    for flavour in ("validating", "mutating")
}
_ALL = "*"


class ParamAccess:
    """Holds the authors of policies and bindings to what they may read."""

    def __init__(self, store: RevisionStore, catalog: Catalog, authorizer: Authorizer) -> None:
        self._store, self._catalog, self._authorizer = store, catalog, authorizer

    def check(self, draft: Draft, user: User) -> None:
        """422 for parameters that the author may not read."""
        table = draft.target.kind.table
        if draft.target.subresource or MASTERS in user.groups:
            return
        if table in _POLICIES:
            self._refuse(draft, "spec.paramKind", self._policy_fault(draft, user))
        elif table in _BINDINGS:
            self._refuse(draft, "spec.paramRef", self._binding_fault(draft, user))

    def _policy_fault(self, draft: Draft, user: User) -> str:
        kind = draft.obj["spec"].get("paramKind")
        before = ((draft.live or {}).get("spec") or {}).get("paramKind")
        if kind is None or kind == before or self._may(user, "get", kind, _ALL, _ALL):
            return ""
        return (
            f'user {_printed(user)} must have "get" permission on all objects of the referenced '
            f"paramKind (kind={kind['kind']}, apiVersion={kind['apiVersion']})"
        )

    def _binding_fault(self, draft: Draft, user: User) -> str:
        spec, before = draft.obj["spec"], (draft.live or {}).get("spec") or {}
        ref, name = spec.get("paramRef"), spec["policyName"]
        if ref is None or (ref == before.get("paramRef") and name == before.get("policyName")):
            return ""
        policy = self._policy(_BINDINGS[draft.target.kind.table], name)
        kind = None if policy is None else policy["spec"].get("paramKind")
        verb = "get" if ref.get("name") else "list"
        if self._may(user, verb, kind, ref.get("namespace") or "", ref.get("name") or ""):
            return ""
        if policy is not None:
            return (
                f'user {_printed(user)} does not have "{verb}" permission on the object '
                "referenced by paramRef"
            )
        return (
            f"unable to get policy {name} to determine minimum required permissions and user "
            f'{_printed(user)} does not have "{verb}" permission for all groups, versions and '
            "resources"
        )

    def _may(
        self, user: User, verb: str, kind: JsonObject | None, namespace: str, name: str
    ) -> bool:
        group = version = resource = _ALL
        if kind is not None:
            group, _, version = kind["apiVersion"].rpartition("/")
            resource = self._plural(group, version, kind["kind"])
        info = RequestInfo(verb, "", group, version, resource, namespace, name)
        return self._authorizer.decide(user, info).allowed

    def _plural(self, group: str, version: str, name: str) -> str:
        kinds = self._catalog.version(group, version)
        return next((kind.name for kind in kinds if kind.resource.kind == name), _ALL)

    def _policy(self, plural: str, name: str) -> JsonObject | None:
        kind = self._catalog.find(_GROUP, "v1", plural)
        entry = None if kind is None else self._store.table(kind.table).entries.get(name)
        return None if kind is None or entry is None else stored_json.unpack(kind, entry)

    def _refuse(self, draft: Draft, path: str, fault: str) -> None:
        if fault:
            raise invalid_object(draft.target.kind.resource, draft.label, forbidden(path, fault))


def _printed(user: User) -> str:
    """A user as Go prints one."""
    extra = (f"{key}:[{' '.join(values)}]" for key, values in sorted(user.extra.items()))
    return f"&{{{user.name} {user.uid} [{' '.join(user.groups)}] map[{' '.join(extra)}]}}"
