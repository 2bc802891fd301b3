"""generic.PolicyMatcher: which policies are due for a change, with which bindings and parameters.

A policy or a binding that cannot be set up for a change counts as its failurePolicy says.
"""

from __future__ import annotations

from typing import Any, Generic

from msgspec import Struct
from msgspec.structs import replace

from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.catalog import Catalog
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.status import StatusError, not_found
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.policy.match_resources import MatchResources
from quintant.cluster.apiserver.policy.params import (
    NO_PARAMS,
    MisconfiguredPolicy,
    collect_params,
    find_param_kind,
)
from quintant.cluster.apiserver.policy.policy_source import (
    E,
    PolicyBinding,
    PolicyHook,
    PolicySource,
)
from quintant.cluster.apiserver.storage.revision_log import RevisionStore
from quintant.cluster.apiserver.webhooks.activation import Decide, activation
from quintant.cluster.apiserver.webhooks.admission_review import request_of
from quintant.cluster.apiserver.webhooks.attributes import NAMESPACES, Attributes
from quintant.cluster.apiserver.webhooks.selectors import SelectorMatcher
from quintant.cluster.apiserver.webhooks.versioned_attributes import versioned_object

_METADATA = (
    *("name", "generateName", "uid", "resourceVersion", "generation", "creationTimestamp"),
    *("deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "finalizers"),
)
"""What expressions see of the metadata of a namespace."""


class PolicyInvocation(Struct, Generic[E], frozen=True):
    """A policy that is due, once for each object that a binding names as its parameters."""

    hook: PolicyHook[E]
    binding: PolicyBinding
    kind: Kind
    """The version that the policy sees."""
    params: JsonObject | None = None


class PolicyFailure(Struct, Generic[E], frozen=True):
    """A policy that cannot be evaluated, because of itself or of a binding."""

    hook: PolicyHook[E]
    binding: PolicyBinding | None
    why: str

    @property
    def message(self) -> str:
        culprit = "policy" if self.binding is None else "binding"
        return f"failed to configure {culprit}: {self.why}"


class PolicyMatcher(Generic[E]):
    """Finds the policies that are due."""

    def __init__(
        self, source: PolicySource[E], store: RevisionStore, catalog: Catalog, decide: Decide
    ) -> None:
        self.source = source
        self._store, self._catalog, self._decide = store, catalog, decide
        self._selectors = SelectorMatcher(store)

    def concerns(self, attributes: Attributes) -> tuple[PolicyHook[E], ...]:
        """The policies whose rules can cover a change."""
        return self.source.matching(attributes.kind, attributes.sub, attributes.operation)

    async def due(self, attributes: Attributes) -> list[PolicyInvocation[E] | PolicyFailure[E]]:
        """Every policy that is to be evaluated about a change, in order."""
        found: list[PolicyInvocation[E] | PolicyFailure[E]] = []
        for hook in self.concerns(attributes):
            try:
                kind = self._matching_kind(hook.constraints, attributes)
                if kind is None:
                    continue
                param_kind = self._param_kind(hook)
            except (StatusError, MisconfiguredPolicy) as error:
                found.append(PolicyFailure(hook, None, str(error)))
                continue
            for binding in hook.bindings:
                found += await self._bound(hook, binding, kind, param_kind, attributes)
        return found

    async def names(self, kind: Kind, attributes: Attributes) -> dict[str, Any]:
        """What expressions of a policy see of a change, as a version shows it."""
        shown = replace(
            attributes,
            obj=await versioned_object(attributes, kind, attributes.obj),
            old=await versioned_object(attributes, kind, attributes.old),
        )
        request = request_of(attributes, kind, "")
        names = activation(shown, request, self._decide)
        return {**names, "namespaceObject": self._namespace(attributes)}

    async def _bound(
        self,
        hook: PolicyHook[E],
        binding: PolicyBinding,
        kind: Kind,
        param_kind: Kind | None,
        attributes: Attributes,
    ) -> list[PolicyInvocation[E] | PolicyFailure[E]]:
        try:
            resources = binding.resources
            if resources is not None and self._matching_kind(resources, attributes) is None:
                return []
            params: Any = NO_PARAMS
            if param_kind is not None and (ref := binding.param_ref) is not None:
                params = await collect_params(self._store, param_kind, ref, attributes.namespace)
        except (StatusError, MisconfiguredPolicy) as error:
            return [PolicyFailure(hook, binding, str(error))]
        return [PolicyInvocation(hook, binding, kind, each) for each in params]

    def _matching_kind(self, resources: MatchResources, attributes: Attributes) -> Kind | None:
        others = () if resources.exact else self.source.equivalents(attributes.kind)
        kind = resources.matching_kind(attributes, others)
        if kind is None:
            return None
        selected = self._selectors.matches(resources.namespaces, resources.objects, attributes)
        return kind if selected else None

    def _param_kind(self, hook: PolicyHook[E]) -> Kind | None:
        wanted = hook.param_kind
        return None if wanted is None else find_param_kind(self._catalog, wanted)

    def _namespace(self, attributes: Attributes) -> JsonObject | None:
        """The namespace of a change, as far as expressions see it."""
        if not attributes.scoped:
            return None
        kind = self._catalog.find("", "v1", NAMESPACES)
        assert kind is not None, "a built-in kind is always served"
        entry = self._store.table(kind.table).entries.get(attributes.namespace)
        if entry is None:
            raise not_found(kind.resource, attributes.namespace)
        whole = stored_json.unpack(kind, entry)
        metadata = whole["metadata"]
        return {
            "metadata": {name: metadata[name] for name in _METADATA if name in metadata},
            "spec": whole.get("spec") or {},
            "status": whole.get("status") or {},
        }
