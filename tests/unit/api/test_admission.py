from __future__ import annotations

import msgspec
import pytest

from quintant.api.admission import (
    AdmissionRequest,
    AdmissionResponse,
    AdmissionReview,
    ConversionResponse,
    MutatingWebhookConfiguration,
    ValidatingWebhookConfiguration,
    given,
)
from quintant.core.codec import decoder, encode
from quintant.core.errors import Status
from quintant.core.resource import resource_of


@pytest.mark.parametrize(("raw", "there"), [(b"", False), (b"null", False), (b"{}", True)])
def test_an_object_is_told_from_its_absence(raw: bytes, there: bool) -> None:
    assert given(msgspec.Raw(raw)) is there


def test_a_request_travels_both_ways_unchanged() -> None:
    request = AdmissionRequest(
        uid="u", operation="UPDATE", object=msgspec.Raw(b'{"a":1}'), dry_run=False
    )
    review = AdmissionReview(
        api_version="admission.k8s.io/v1", kind="AdmissionReview", request=request
    )
    wire = encode(review)
    assert wire == (
        b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":'
        b'{"uid":"u","operation":"UPDATE","object":{"a":1},"dryRun":false}}'
    )
    assert encode(decoder(AdmissionReview).decode(wire)) == wire


def test_a_verdict_is_always_written_out() -> None:
    assert encode(AdmissionResponse(uid="", allowed=False)) == b'{"uid":"","allowed":false}'


def test_a_failed_conversion_may_say_null_for_its_objects() -> None:
    wire = b'{"uid":"u","result":{"status":"Failure"},"convertedObjects":null}'
    response = decoder(ConversionResponse).decode(wire)
    assert response == ConversionResponse(uid="u", result=Status(status="Failure"))


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (ValidatingWebhookConfiguration, "validatingwebhookconfigurations"),
        (MutatingWebhookConfiguration, "mutatingwebhookconfigurations"),
    ],
)
def test_configurations_are_cluster_wide(
    kind: type[ValidatingWebhookConfiguration | MutatingWebhookConfiguration], name: str
) -> None:
    path = f"/apis/admissionregistration.k8s.io/v1/{name}/a"
    assert resource_of(kind).path(name="a") == path


def test_what_a_newer_server_writes_is_still_read() -> None:
    wire = b'{"webhooks":[{"name":"a","failurePolicy":"Shrug","unknown":1}]}'
    (webhook,) = decoder(ValidatingWebhookConfiguration).decode(wire).webhooks
    assert webhook.failure_policy == "Shrug"
