"""What is wrong with admission policies and their bindings, in the words of a real server.

expressions       their programs, which may build on each other (variables)
match_resources   what they are about
validating        ValidatingAdmissionPolicy
mutating          MutatingAdmissionPolicy            bindings   what puts a policy into force
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.policies.bindings import (
    validate_mutating_binding,
    validate_validating_binding,
)
from quintant.cluster.apiserver.validation.policies.mutating import validate_mutating_policy
from quintant.cluster.apiserver.validation.policies.validating import validate_validating_policy
from quintant.core.errors import Cause

ADMISSION_POLICIES: dict[str, Callable[[JsonObject, JsonObject | None], Iterable[Cause]]] = {
    "mutatingadmissionpolicies": validate_mutating_policy,
    "mutatingadmissionpolicybindings": validate_mutating_binding,
    "validatingadmissionpolicies": validate_validating_policy,
    "validatingadmissionpolicybindings": validate_validating_binding,
}
