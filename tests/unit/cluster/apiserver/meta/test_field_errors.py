"""What is wrong with which field, and the refusals that list it."""

from __future__ import annotations

from quintant.cluster.apiserver.meta.field_errors import (
    aggregate,
    duplicate,
    invalid,
    invalid_object,
    invalid_options,
    invalid_patch,
    missing_resource_version,
    not_supported,
    required,
    too_long,
    too_many,
)
from quintant.core.resource import Resource

DEPLOYMENT = Resource("apps", "v1", "Deployment", "deployments")


def test_a_refusal_names_the_object_and_lists_every_cause() -> None:
    causes = required("spec.a"), invalid("spec.b", -1, "must be more")
    error = invalid_object(DEPLOYMENT, "web", *causes)
    assert (error.code, error.reason) == (422, "Invalid")
    assert error.message == (
        'Deployment.apps "web" is invalid: '
        "[spec.a: Required value, spec.b: Invalid value: -1: must be more]"
    )
    assert error.status["details"] == {
        "name": "web",
        "group": "apps",
        "kind": "Deployment",
        "causes": [
            {"reason": "FieldValueRequired", "message": "Required value", "field": "spec.a"},
            {
                "reason": "FieldValueInvalid",
                "message": "Invalid value: -1: must be more",
                "field": "spec.b",
            },
        ],
    }


def test_what_is_said_twice_is_told_once_but_counted_twice() -> None:
    twice = duplicate("a", "x"), duplicate("a", "x")
    assert aggregate(twice) == 'a: Duplicate value: "x"'
    assert len(invalid_object(DEPLOYMENT, "web", *twice).status["details"]["causes"]) == 2


def test_options_are_documents_of_their_own() -> None:
    error = invalid_options("ListOptions", not_supported("a", "b", ["c", "d"]))
    assert error.message == (
        'ListOptions.meta.k8s.io "" is invalid: '
        'a: Unsupported value: "b": supported values: "c", "d"'
    )


def test_a_replacement_without_a_version_is_about_the_resource() -> None:
    error = missing_resource_version(DEPLOYMENT, "web")
    assert error.message.startswith('deployments.apps "web" is invalid: metadata.resourceVersion')
    assert error.status["details"]["kind"] == "deployments"


def test_a_patch_that_makes_no_object_is_about_nothing_but_itself() -> None:
    error = invalid_patch("{}", "no")
    assert error.message == ' "" is invalid: patch: Invalid value: "{}": no'
    assert error.status["details"].keys() == {"causes"}


def test_limits_are_told_in_the_number_of_what_they_count() -> None:
    assert too_long("a", 1).message == "Too long: may not be more than 1 byte"
    assert too_many("a", 3, 2).message == "Too many: 3: must have at most 2 items"
