from __future__ import annotations

from typing import Any

import msgspec
import pytest

from quintant.api.admission import AdmissionResponse, AdmissionReview
from quintant.core.errors import Cause
from quintant.core.object import Object, replace
from quintant.runtime.webhook import Admission, Allowed, Denied, invalid
from quintant.runtime.webhook.admission import mutate, validate
from quintant.runtime.webhook.failure import WebhookFailure
from unit.runtime.webhook.kinds import UID, Gate, Limits, admission, client, document


def about(*args: Any, **kwargs: Any) -> Admission:
    review = msgspec.json.decode(admission(*args, **kwargs), type=AdmissionReview)
    assert review.request is not None
    return Admission(review.request, client())


async def test_a_validator_sees_both_states_and_who_asks() -> None:
    seen: list[Any] = []

    async def validator(old: Gate | None, new: Gate | None, admission: Admission) -> None:
        seen.extend([old and old.spec.host, new and new.spec.host])
        seen.extend([admission.operation, admission.user.username, admission.dry_run])

    update = about(document({"host": "new"}), document({"host": "old"}), dryRun=True)
    response = await validate(Gate, validator, update)
    assert seen == ["old", "new", "UPDATE", "ann", True]
    assert response == AdmissionResponse(uid=UID, allowed=True)


async def test_a_creation_has_no_old_state_and_a_deletion_no_new_one() -> None:
    seen: list[tuple[bool, bool]] = []

    async def validator(old: Gate | None, new: Gate | None, _: Admission) -> None:
        seen.append((old is None, new is None))

    await validate(Gate, validator, about(new=document()))
    await validate(Gate, validator, about(old=document()))
    assert seen == [(True, False), (False, True)]


async def test_an_allowed_change_may_carry_warnings() -> None:
    async def validator(*_: object) -> Allowed:
        return Allowed(warnings=("the service is absent",))

    response = await validate(Gate, validator, about(document()))
    assert response.allowed
    assert response.warnings == ("the service is absent",)


async def test_a_denial_says_why_and_about_what() -> None:
    async def validator(*_: object) -> Denied:
        return Denied("not here", warnings=("think again",))

    response = await validate(Gate, validator, about(document()))
    assert not response.allowed
    assert response.warnings == ("think again",)
    assert msgspec.to_builtins(response.status) == {
        "status": "Failure",
        "message": "not here",
        "reason": "Forbidden",
        "code": 403,
        "details": {"name": "north", "group": "gates.example.com", "kind": "Gate"},
    }


async def test_every_broken_rule_is_named_with_its_field() -> None:
    async def validator(*_: object) -> Denied:
        return invalid(
            Cause("FieldValueInvalid", "must not be 22", "spec.port"),
            Cause("FieldValueRequired", "is required", "spec.host"),
        )

    response = await validate(Gate, validator, about(document()))
    assert response.status is not None
    assert (response.status.code, response.status.reason) == (422, "Invalid")
    assert response.status.message == "spec.port: must not be 22; spec.host: is required"
    assert response.status.details is not None
    assert [cause.field for cause in response.status.details.causes] == ["spec.port", "spec.host"]


async def test_a_mutator_is_answered_for_with_a_patch() -> None:
    async def mutator(new: Gate, _: Admission) -> Gate:
        return replace(new, spec=replace(new.spec, limits=Limits(rate=1)))

    response = await mutate(Gate, mutator, about(document()))
    assert (response.allowed, response.patch_type) == (True, "JSONPatch")
    assert msgspec.json.decode(response.patch) == [
        {"op": "add", "path": "/spec/limits", "value": {"rate": 1}}
    ]


async def test_a_mutator_that_changes_nothing_sends_neither_patch_nor_type() -> None:
    async def mutator(new: Gate, _: Admission) -> Gate:
        return new

    response = await mutate(Gate, mutator, about(document()))
    assert response == AdmissionResponse(uid=UID, allowed=True)


async def test_a_mutator_may_deny() -> None:
    async def mutator(_new: Gate, _: Admission) -> Denied:
        return Denied("no more gates", code=409, reason="Conflict")

    response = await mutate(Gate, mutator, about(document()))
    assert not response.allowed
    assert response.status is not None
    assert response.status.code == 409


async def test_a_mutator_that_forgets_to_return_is_told_so() -> None:
    async def mutator(_new: Gate, _: Admission) -> Any:
        return None

    with pytest.raises(WebhookFailure, match="the mutator returned NoneType, not Gate"):
        await mutate(Gate, mutator, about(document()))


async def test_a_mutation_that_would_lose_fields_is_a_failure() -> None:
    async def mutator(new: Gate, _: Admission) -> Gate:
        ports = tuple(replace(port, number=1) for port in new.spec.ports)
        return replace(new, spec=replace(new.spec, ports=ports))

    review = about(document({"ports": [{"name": "a", "unknown": 1}]}))
    with pytest.raises(WebhookFailure, match="/spec/ports"):
        await mutate(Gate, mutator, review)


@pytest.mark.parametrize("ask", [validate, mutate])
async def test_a_review_without_objects_is_a_failure(ask: Any) -> None:
    with pytest.raises(WebhookFailure, match="carries no object") as failure:
        await ask(Gate, _never, about())
    assert failure.value.code == 400


@pytest.mark.parametrize("ask", [validate, mutate])
async def test_an_object_that_does_not_fit_its_type_is_a_failure_that_names_it(ask: Any) -> None:
    with pytest.raises(WebhookFailure, match=r"Gate town/north: .*spec.host") as failure:
        await ask(Gate, _never, about(document({"host": 5})))
    assert failure.value.code == 400


@pytest.mark.parametrize("ask", [validate, mutate])
async def test_an_error_in_a_handler_is_shown_by_its_class_alone(ask: Any) -> None:
    async def handler(*_: object) -> None:
        raise KeyError("password=hunter2")

    with pytest.raises(WebhookFailure, match="KeyError") as failure:
        await ask(Gate, handler, about(document()))
    assert failure.value.code == 500
    assert "hunter2" not in str(failure.value)


async def test_a_handler_may_read_other_objects() -> None:
    async def validator(
        _old: Gate | None, _new: Gate | None, admission: Admission
    ) -> Denied | None:
        other = await admission.client.find(Gate, "south", "town")
        return None if other else Denied("there is no southern gate")

    response = await validate(Gate, validator, about(document()))
    assert not response.allowed


async def _never(*_: object) -> Object:
    raise AssertionError("the handler must not be asked")
