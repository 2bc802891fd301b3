"""mutating.NewDispatcher: the mutating policies that are due, one after the other.

Each sees what those before it made of the object. One that cannot be evaluated counts as its
failurePolicy says, and the others are evaluated all the same: a refusal names every failure.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from quintant.cluster.apiserver import go_types
from quintant.cluster.apiserver.go_types.coerce import CoercionError
from quintant.cluster.apiserver.kinds.catalog import Catalog
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.status import StatusError, forbidden, internal_error
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.offload.pool import Offload
from quintant.cluster.apiserver.policy.evaluation import conditions_hold
from quintant.cluster.apiserver.policy.patchers import (
    CompiledMutatingPolicy,
    CompiledMutation,
    MutationError,
    compile_mutating_policy,
    patched_object,
)
from quintant.cluster.apiserver.policy.policy_matcher import (
    PolicyFailure,
    PolicyInvocation,
    PolicyMatcher,
)
from quintant.cluster.apiserver.policy.policy_source import PolicySource
from quintant.cluster.apiserver.storage.revision_log import RevisionStore
from quintant.cluster.apiserver.structuredmerge.builtin_schema import builtin_schema
from quintant.cluster.apiserver.structuredmerge.schema import MergeSchema
from quintant.cluster.apiserver.webhooks.activation import Decide, OutOfBudget
from quintant.cluster.apiserver.webhooks.attributes import CONNECT, DELETE, Attributes
from quintant.cluster.apiserver.webhooks.dispatcher import Revise
from quintant.cluster.apiserver.webhooks.match_conditions import MatchConditionError
from quintant.cluster.apiserver.webhooks.versioned_attributes import convert_version
from quintant.core.errors import Cause

PLURALS = ("mutatingadmissionpolicies", "mutatingadmissionpolicybindings")
FORBIDDEN, INVALID = "Forbidden", "Invalid"

Invocation = PolicyInvocation[CompiledMutatingPolicy]
Step = Invocation | PolicyFailure[CompiledMutatingPolicy]
InvocationKey = tuple[str, str, str]
"""Policy, binding and parameters."""


class PolicyError(Struct, frozen=True):
    """Why a policy does not let a change pass."""

    message: str
    reason: str


class PolicyRound(Struct, frozen=True):
    """A change after the policies that are due were evaluated."""

    attributes: Attributes
    mutated: bool = False
    """Whether any of them patched the object, changed or not."""
    reinvocable: frozenset[InvocationKey] = frozenset()
    """Those that were evaluated, and want to be again where something changed."""


class MutatingPolicies:
    """Evaluates the mutating policies that a change concerns."""

    def __init__(
        self, store: RevisionStore, catalog: Catalog, decide: Decide, offload: Offload
    ) -> None:
        source = PolicySource(store, catalog, PLURALS, compile_mutating_policy)
        self._matcher = PolicyMatcher(source, store, catalog, decide)
        self._offload = offload

    def forget(self) -> None:
        """Read the policies again: the store's contents were exchanged."""
        self._matcher.source.forget()

    def concern(self, kind: Kind, sub: str, operation: str) -> bool:
        """Whether any policy can cover an operation; what is deleted has nothing to mutate."""
        return operation != DELETE and self._matcher.source.matching(kind, sub, operation) != ()

    async def admit(self, attributes: Attributes, revise: Revise) -> PolicyRound:
        """The change after all policies that are due; StatusError if one refuses it."""
        return await self._round(attributes, revise, None)

    async def readmit(
        self, previous: PolicyRound, attributes: Attributes, revise: Revise
    ) -> Attributes:
        """The same after those are evaluated again that ask for it."""
        changed = previous.mutated or attributes.obj != previous.attributes.obj
        if not changed or not previous.reinvocable:
            return attributes
        return (await self._round(attributes, revise, previous.reinvocable)).attributes

    async def _round(
        self, attributes: Attributes, revise: Revise, only: frozenset[InvocationKey] | None
    ) -> PolicyRound:
        if not self.concern(attributes.kind, attributes.sub, attributes.operation):
            return PolicyRound(attributes)
        errors: list[PolicyError] = []
        found = PolicyRound(attributes)
        for step in await self._matcher.due(attributes):
            if isinstance(step, PolicyFailure):
                if not step.hook.ignores_failure:
                    errors.append(PolicyError(_denied(step, step.message), FORBIDDEN))
            elif only is None or _key(step) in only:
                found = await self._invoke(step, found, revise, errors)
        if errors:
            raise _refused(attributes, errors)
        return found

    async def _invoke(
        self, step: Invocation, before: PolicyRound, revise: Revise, errors: list[PolicyError]
    ) -> PolicyRound:
        """The change after one policy; what is wrong with it is added unless it may fail."""
        failures: list[str] = []
        try:
            names = await self._names(step, before.attributes)
            holds = partial(_conditions_hold, step, names)
            if not await self._offload.run(holds, step.hook.weight):
                return before
            found = await self._mutate(step, before, revise, failures)
        except (MatchConditionError, OutOfBudget) as error:
            found, failures = before, [str(error)]
        if not step.hook.ignores_failure:
            errors += (PolicyError(_denied(step, message), INVALID) for message in failures)
        return found

    async def _mutate(
        self, step: Invocation, current: PolicyRound, revise: Revise, failures: list[str]
    ) -> PolicyRound:
        policy = step.hook.evaluator
        for mutation in policy.mutations if current.attributes.obj is not None else ():
            try:
                obj = await self._mutated(step, mutation, current.attributes, revise)
            except MutationError as error:
                failures.append(str(error))
                continue
            current = replace(
                current, attributes=replace(current.attributes, obj=obj), mutated=True
            )
        if policy.reinvoked:
            return replace(current, reinvocable=current.reinvocable | {_key(step)})
        return current

    async def _mutated(
        self, step: Invocation, mutation: CompiledMutation, attributes: Attributes, revise: Revise
    ) -> JsonObject:
        """An object after one mutation, as the kind of the request."""
        names, schema = await self._names(step, attributes), merge_schema_of(step.kind, attributes)
        work = partial(patched_object, step.hook.evaluator, mutation, names, schema)
        size = len(msgspec.json.encode(attributes.obj))
        changed = await self._offload.run(work, size)
        if changed is names["object"] and attributes.obj is not None:
            return attributes.obj
        try:
            if step.kind is not attributes.kind:
                changed = await convert_version(step.kind, attributes.kind, changed)
            return await self._offload.run(partial(revise, changed, strict=True), size)
        except CoercionError as error:
            if mutation.applies:
                raise MutationError(_unconverted(step.kind, error)) from None
            raise internal_error(str(error)) from None

    async def _names(self, step: Invocation, attributes: Attributes) -> Mapping[str, Any]:
        names = await self._matcher.names(step.kind, attributes)
        return {**names, "params": step.params}


def _conditions_hold(step: Invocation, names: Mapping[str, Any]) -> bool:
    return conditions_hold(step.hook.evaluator, names)


def merge_schema_of(kind: Kind, attributes: Attributes) -> MergeSchema | None:
    """How an object is merged: by the schemas that its group and version publish, or not at all.

    What a subresource speaks has its schema where the subresource is; only where that is the
    document's own group and version is it found.
    """
    document = attributes.document
    if document is attributes.kind.resource:
        return kind.merge_schema
    message = go_types.find(document.api_version, document.kind)
    near = document.api_version == attributes.kind.resource.api_version
    if message is None or not near or attributes.operation == CONNECT:
        return None
    return builtin_schema(message)


def _key(step: Invocation) -> InvocationKey:
    metadata = (step.params or {}).get("metadata") or {}
    params = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}"
    return step.hook.name, step.binding.name, params


def _denied(step: Step, message: str) -> str:
    if step.binding is None:
        return f'policy "{step.hook.name}" denied request: {message}'
    bound = f"policy '{step.hook.name}' with binding '{step.binding.name}'"
    return f"{bound} denied request: {message}"


def _unconverted(kind: Kind, error: CoercionError) -> str:
    resource = kind.resource
    what = f"{resource.group}/{resource.version}, Kind={resource.kind}"
    return f"unable to convert unstructured object to {what}: {error.converted}"


def _refused(attributes: Attributes, errors: list[PolicyError]) -> StatusError:
    """403 with the words of the first failure; every one is a cause."""
    # What cannot be set up is found before anything is evaluated.
    ordered = sorted(errors, key=lambda error: error.reason != FORBIDDEN)
    first, causes = ordered[0], [Cause(message=error.message) for error in ordered]
    status = forbidden(attributes.kind.resource, attributes.resource_name, "", *causes)
    return StatusError(status.code, first.reason, first.message, status.details)
