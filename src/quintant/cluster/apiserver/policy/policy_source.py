"""NewPolicySource: the policies that are bound, each with its bindings, kept up to date.

Policies come in the order of their names, and so do their bindings. What can concern a resource is
remembered until a policy, a binding or a kind changes, so that the usual answer, nothing, costs a
look into a dictionary.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Final, Generic, TypeVar

import msgspec
from msgspec import Struct

from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.catalog import Catalog
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.policy.match_resources import MatchResources, read_match_resources
from quintant.cluster.apiserver.storage.history import Change
from quintant.cluster.apiserver.storage.revision_log import RevisionStore, Table
from quintant.cluster.apiserver.webhooks.rules import equivalent_kinds

GROUP = "admissionregistration.k8s.io"
EXCLUDED_GROUPS = frozenset({"authentication.k8s.io", "authorization.k8s.io"})
"""Documents that only ask something: who refuses those breaks the cluster."""
POLICIES = frozenset(
    {
        *("validatingadmissionpolicies", "validatingadmissionpolicybindings"),
        *("mutatingadmissionpolicies", "mutatingadmissionpolicybindings"),
    }
)
"""What no policy is asked about: otherwise one could not be taken away again."""
MOST_REMEMBERED = 10_000
"""Answers remembered before all are forgotten: kinds come and go with their definitions."""

E = TypeVar("E")


class ParamKind(Struct, frozen=True):
    """The kind of a policy's parameters."""

    api_version: str
    kind: str

    def __str__(self) -> str:
        group, _, version = self.api_version.rpartition("/")
        return f"{group}/{version}, Kind={self.kind}"


class PolicyBinding(Struct, frozen=True):
    """What puts a policy into force."""

    name: str
    param_ref: JsonObject | None
    resources: MatchResources | None
    actions: tuple[str, ...]


class PolicyHook(Generic[E]):
    """A policy with its bindings; its expressions are compiled when they are first needed."""

    def __init__(
        self, policy: JsonObject, bindings: tuple[PolicyBinding, ...], compiler: Callable[..., E]
    ) -> None:
        spec = policy["spec"]
        self.name: str = policy["metadata"]["name"]
        self.version: str = policy["metadata"]["resourceVersion"]
        self.bindings = bindings
        self.ignores_failure: Final = spec.get("failurePolicy") == "Ignore"
        self.constraints: MatchResources = read_match_resources(spec.get("matchConstraints") or {})
        kind = spec.get("paramKind")
        self.param_kind: ParamKind | None = (
            None if kind is None else ParamKind(kind["apiVersion"], kind["kind"])
        )
        self.spec: Final = spec
        self._compiler = compiler

    @property
    def weight(self) -> int:
        """Bytes to be worked on before the policy can be evaluated: none once it is compiled."""
        return 0 if "evaluator" in self.__dict__ else len(msgspec.json.encode(self.spec))

    @cached_property
    def evaluator(self) -> E:
        """The policy's programs."""
        return self._compiler(self.spec)


class PolicySource(Generic[E]):
    """Which policies there are for what."""

    def __init__(
        self,
        store: RevisionStore,
        catalog: Catalog,
        plurals: tuple[str, str],
        compiler: Callable[[JsonObject], E],
    ) -> None:
        self._store, self._catalog, self._compiler = store, catalog, compiler
        self._plurals = plurals
        self._tables = frozenset(f"{plural}.{GROUP}" for plural in plurals)
        self._hooks: tuple[PolicyHook[E], ...] | None = None
        self._compiled: dict[str, PolicyHook[E]] = {}
        self._matched: dict[tuple[Kind, str, str], tuple[PolicyHook[E], ...]] = {}
        store.subscribe(self._store_changed)

    def forget(self) -> None:
        """Read everything again: a policy changed, or the store's contents were exchanged."""
        self._hooks = None
        self._matched.clear()

    def matching(self, kind: Kind, sub: str, operation: str) -> tuple[PolicyHook[E], ...]:
        """The policies whose rules can cover an operation, in order."""
        hooks = self._read() if self._hooks is None else self._hooks
        if not hooks:
            return ()
        key = (kind, sub, operation)
        found = self._matched.get(key)
        if found is None:
            if len(self._matched) >= MOST_REMEMBERED:
                self._matched.clear()
            found = self._matched[key] = self._find(hooks, *key)
        return found

    def equivalents(self, kind: Kind) -> list[Kind]:
        """The other versions of a resource."""
        return list(equivalent_kinds(self._catalog, kind))

    def _find(
        self, hooks: tuple[PolicyHook[E], ...], kind: Kind, sub: str, operation: str
    ) -> tuple[PolicyHook[E], ...]:
        resource = kind.resource
        if resource.group in EXCLUDED_GROUPS or (
            resource.group == GROUP and resource.plural in POLICIES
        ):
            return ()
        kinds = [kind, *self.equivalents(kind)]
        return tuple(each for each in hooks if each.constraints.may_cover(kinds, sub, operation))

    def _read(self) -> tuple[PolicyHook[E], ...]:
        policies, bindings = (self._objects(plural) for plural in self._plurals)
        bound: dict[str, list[PolicyBinding]] = {}
        for binding in bindings:
            bound.setdefault(binding["spec"]["policyName"], []).append(_binding(binding))
        self._hooks = tuple(
            self._hook(policy, tuple(bound[policy["metadata"]["name"]]))
            for policy in policies
            if policy["metadata"]["name"] in bound
        )
        self._compiled = {hook.name: hook for hook in self._hooks}
        return self._hooks

    def _hook(self, policy: JsonObject, bindings: tuple[PolicyBinding, ...]) -> PolicyHook[E]:
        made = PolicyHook(policy, bindings, self._compiler)
        before = self._compiled.get(made.name)
        # Of two clusters, whose snapshots may be exchanged, one version has two contents.
        if before is not None and before.spec == made.spec and not before.weight:
            made.evaluator = before.evaluator
        return made

    def _objects(self, plural: str) -> list[JsonObject]:
        kind = self._catalog.find(GROUP, "v1", plural)
        assert kind is not None, "a built-in kind is always served"
        table = self._store.table(kind.table)
        return [stored_json.unpack(kind, table.entries[key]) for key in table.keys]

    def _store_changed(self, table: Table, change: Change) -> None:
        if table.name in self._tables:
            self.forget()


def _binding(binding: JsonObject) -> PolicyBinding:
    spec = binding["spec"]
    resources = spec.get("matchResources")
    return PolicyBinding(
        binding["metadata"]["name"],
        spec.get("paramRef"),
        None if resources is None else read_match_resources(resources),
        tuple(spec.get("validationActions") or ()),
    )
