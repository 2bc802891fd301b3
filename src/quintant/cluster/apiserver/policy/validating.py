"""validating.NewDispatcher: the validating policies that are due, and what they say together.

A binding says what a failed validation leads to: a refusal, a warning, or a note in an audit log,
of which this server has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from quintant.cluster.apiserver.kinds.catalog import Catalog
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.status import StatusError, forbidden
from quintant.cluster.apiserver.offload.pool import Offload
from quintant.cluster.apiserver.policy.policy_matcher import (
    PolicyFailure,
    PolicyInvocation,
    PolicyMatcher,
)
from quintant.cluster.apiserver.policy.policy_source import PolicySource
from quintant.cluster.apiserver.policy.validator import (
    INVALID,
    CompiledPolicy,
    PolicyDenial,
    compile_policy,
    validate,
)
from quintant.cluster.apiserver.storage.revision_log import RevisionStore
from quintant.cluster.apiserver.validation.policies.bindings import DENY, WARN
from quintant.cluster.apiserver.webhooks.activation import Decide
from quintant.cluster.apiserver.webhooks.attributes import Attributes
from quintant.core.errors import Cause

PLURALS = ("validatingadmissionpolicies", "validatingadmissionpolicybindings")
_CODES = {"Forbidden": 403, "Unauthorized": 401, "RequestEntityTooLarge": 413}
_INVALID_CODE = 422

Step = PolicyInvocation[CompiledPolicy] | PolicyFailure[CompiledPolicy]


class PolicyVerdict(Struct, frozen=True):
    """What policies say of a change."""

    refusals: tuple[tuple[str, str], ...] = ()
    """Each with its reason."""
    warnings: tuple[str, ...] = ()


class ValidatingPolicies:
    """Asks the validating policies that a change concerns."""

    def __init__(
        self, store: RevisionStore, catalog: Catalog, decide: Decide, offload: Offload
    ) -> None:
        source = PolicySource(store, catalog, PLURALS, compile_policy)
        self._matcher = PolicyMatcher(source, store, catalog, decide)
        self._offload = offload

    def forget(self) -> None:
        """Read the policies again: the store's contents were exchanged."""
        self._matcher.source.forget()

    def concern(self, kind: Kind, sub: str, operation: str) -> bool:
        """Whether any policy can cover an operation."""
        return self._matcher.source.matching(kind, sub, operation) != ()

    async def validate(self, attributes: Attributes, size: int = 0) -> tuple[str, ...]:
        """What policies warn of; StatusError if one refuses a change of so many bytes."""
        steps = await self._matcher.due(attributes)
        if not steps:
            return ()
        kinds = {step.kind for step in steps if isinstance(step, PolicyInvocation)}
        names = {kind: await self._matcher.names(kind, attributes) for kind in kinds}
        size = max(size, *(step.hook.weight for step in steps))
        verdict = await self._offload.run(partial(_verdict, steps, names), size)
        if verdict.refusals:
            raise _refused(attributes, *verdict.refusals[0]).with_warnings(*verdict.warnings)
        return verdict.warnings


def _verdict(steps: Sequence[Step], names: dict[Kind, dict[str, Any]]) -> PolicyVerdict:
    refusals: list[tuple[str, str]] = []
    warnings: list[str] = []
    for step in steps:
        if isinstance(step, PolicyFailure):
            if not step.hook.ignores_failure:
                refusals.append((_denied(step, step.message), INVALID))
            continue
        variables = {**names[step.kind], "params": step.params}
        for denial in validate(step.hook.evaluator, variables):
            _enact(step, denial, refusals, warnings)
    return PolicyVerdict(tuple(refusals), tuple(warnings))


def _enact(
    step: PolicyInvocation[CompiledPolicy],
    denial: PolicyDenial,
    refusals: list[tuple[str, str]],
    warnings: list[str],
) -> None:
    """Do what a binding says of a failed validation."""
    actions = step.binding.actions
    if denial.always or DENY in actions:
        refusals.append((_denied(step, denial.message), denial.reason or INVALID))
    if WARN in actions and not denial.always:
        warnings.append(
            f"Validation failed for ValidatingAdmissionPolicy '{step.hook.name}' "
            f"with binding '{step.binding.name}': {denial.message}"
        )


def _denied(step: Step, message: str) -> str:
    bound = "" if step.binding is None else f" with binding '{step.binding.name}'"
    return f"ValidatingAdmissionPolicy '{step.hook.name}'{bound} denied request: {message}"


def _refused(attributes: Attributes, message: str, reason: str) -> StatusError:
    resource, name = attributes.kind.resource, attributes.resource_name
    error = forbidden(resource, name, message, Cause(message=message))
    return StatusError(_CODES.get(reason, _INVALID_CODE), reason, error.message, error.details)
