"""CertificateSigningRequests: what is accepted, who decides, and what each endpoint may change."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from conformance.secured_server import SecuredServer, message, rule
from conformance.target import Target, causes, owners
from unit.cluster.api import JsonObject
from unit.cluster.certificates import authority, certificate_request

GROUP = "certificates.k8s.io"
REQUESTS = f"/apis/{GROUP}/v1/certificatesigningrequests"
CLIENT = "kubernetes.io/kube-apiserver-client"
APPROVED: JsonObject = {"type": "Approved", "status": "True", "reason": "Because"}
DENIED: JsonObject = {"type": "Denied", "status": "True", "reason": "Because"}
CERTIFICATE = b64encode(authority("issued").pem).decode()


def signing_request(name: str, **spec: Any) -> JsonObject:
    content = {
        "request": certificate_request("alice", "people"),
        "signerName": "example.com/signer",
        "usages": ["client auth"],
        **spec,
    }
    return {"metadata": {"name": name, "labels": {"x": "y"}}, "spec": content}


async def created(target: Target, name: str = "", **spec: Any) -> tuple[str, JsonObject]:
    """The path of a new request, and the request."""
    name = f"{name or 'a'}.{target.namespace}"
    made = await target.create(REQUESTS, signing_request(name, **spec))
    return f"{REQUESTS}/{name}", made


def conditions(*listed: JsonObject) -> JsonObject:
    return {"status": {"conditions": list(listed)}}


async def test_the_server_writes_who_asks(target: Target) -> None:
    name = f"A b.{target.namespace}"
    made = await target.create(
        REQUESTS,
        signing_request(name, username="mallory", uid="1", groups=["g"], extra={"a": ["b"]})
        | conditions(APPROVED),
        fieldManager="me",
    )
    asked = await target.create("/apis/authentication.k8s.io/v1/selfsubjectreviews", {})
    spec, user = made["spec"], asked["status"]["userInfo"]
    assert spec["username"] == user["username"]
    assert sorted(spec.get("groups", [])) == sorted(user["groups"])
    assert spec.get("uid") != "1"
    assert spec.get("extra", {}).get("a") is None
    assert made["status"] == {}
    assert "generation" not in made["metadata"]
    assert owners(made) == {"me Update": {"f:metadata": {"f:labels": {".": {}, "f:x": {}}}}}


@pytest.mark.parametrize(
    ("spec", "refused"),
    [
        ({"request": "eA=="}, [("spec.request", "FieldValueInvalid")]),
        ({"usages": []}, [("spec.usages", "FieldValueRequired")]),
        ({"usages": ["any", "all"]}, [("spec.usages[1]", "FieldValueNotSupported")]),
        ({"usages": ["any", "any"]}, [("spec.usages[1]", "FieldValueDuplicate")]),
        ({"signerName": ""}, [("spec.signerName", "FieldValueRequired")]),
        ({"signerName": "a"}, [("spec.signerName", "FieldValueInvalid")]),
        ({"signerName": "a/b"}, [("spec.signerName", "FieldValueInvalid")]),
        ({"signerName": "A.b/c_d"}, [("spec.signerName", "FieldValueInvalid")] * 2),
        ({"signerName": "a.b/c/d"}, [("spec.signerName", "FieldValueInvalid")]),
        (
            {"signerName": "kubernetes.io/legacy-unknown"},
            [("spec.signerName", "FieldValueInvalid")],
        ),
        ({"expirationSeconds": 599}, [("spec.expirationSeconds", "FieldValueInvalid")]),
    ],
)
async def test_a_request_must_make_sense(
    target: Target, spec: JsonObject, refused: list[tuple[str, str]]
) -> None:
    body = signing_request(f"a.{target.namespace}", **spec)
    assert causes(await target.create(REQUESTS, body, code=422)) == refused


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        (
            {"request": "eA=="},
            'Invalid value: "eA==": PEM block type must be CERTIFICATE REQUEST',
        ),
        (
            {"signerName": "A.b/c"},
            'Invalid value: "A.b": validating label "A": a lowercase RFC 1123 label must consist',
        ),
        (
            {"signerName": "a/b"},
            'Invalid value: "a": should be a domain with at least two segments separated by dots',
        ),
        (
            {"expirationSeconds": 1},
            "may not specify a duration less than 600 seconds (10 minutes)",
        ),
        (
            {"signerName": "kubernetes.io/legacy-unknown"},
            "the legacy signerName is not allowed via this API version",
        ),
    ],
)
async def test_a_refused_request_is_told_why(target: Target, spec: JsonObject, why: str) -> None:
    body = signing_request(f"a.{target.namespace}", **spec)
    assert why in message(await target.create(REQUESTS, body, code=422))


async def test_nobody_asks_for_an_administrator(target: Target) -> None:
    body = signing_request(
        f"a.{target.namespace}",
        request=certificate_request("alice", "system:masters"),
        signerName=CLIENT,
    )
    told = await target.create(REQUESTS, body, code=403)
    why = f"use of {CLIENT} signer with system:masters group is not allowed"
    assert message(told).endswith(f"is forbidden: {why}")


async def test_a_request_is_as_it_was_made(target: Target) -> None:
    path, made = await created(target)
    changed = {"spec": {"usages": ["server auth"]}, "metadata": {"labels": {"a": "b"}}}
    told = await target.merge(path, changed | conditions(APPROVED))
    assert told["spec"] == made["spec"]
    assert told["status"] == {}
    assert told["metadata"]["labels"] == {"a": "b", "x": "y"}


async def test_an_approval_writes_conditions_alone(target: Target) -> None:
    path, made = await created(target)
    body = {"spec": {"usages": ["any"]}, "status": {"certificate": CERTIFICATE}}
    body["status"] |= conditions(APPROVED)["status"]
    told = await target.merge(f"{path}/approval", body, fieldManager="me")
    (condition,) = told["status"].pop("conditions")
    assert told["status"] == {}
    assert told["spec"] == made["spec"]
    assert condition["lastUpdateTime"] == condition["lastTransitionTime"]
    assert {**condition, **APPROVED} == condition
    owned = owners(told)["me Update approval"]["f:status"]
    assert list(owned) == ["f:conditions"]
    assert (await target.get(f"{path}/approval"))["status"]["conditions"] == [condition]


@pytest.mark.parametrize(
    ("listed", "refused"),
    [
        ([{"type": "Approved", "status": "False"}], "FieldValueNotSupported"),
        ([{"type": "Other", "status": "Maybe"}], "FieldValueNotSupported"),
        ([{"type": "", "status": "True"}], "FieldValueRequired"),
        ([{"type": "Other"}], "FieldValueRequired"),
        ([APPROVED, DENIED], "FieldValueInvalid"),
    ],
)
async def test_conditions_must_make_sense(
    target: Target, listed: list[JsonObject], refused: str
) -> None:
    path, _ = await created(target)
    told = await target.merge(f"{path}/approval", conditions(*listed), code=422)
    assert refused in [reason for _, reason in causes(told)]


async def test_what_was_decided_stays(target: Target) -> None:
    path, _ = await created(target)
    await target.merge(f"{path}/approval", conditions(APPROVED))
    for sub in ("approval", "status"):
        told = await target.merge(f"{path}/{sub}", {"status": {"conditions": None}}, code=422)
        why = 'Forbidden: updates may not remove a condition of type "Approved"'
        assert f"status.conditions: {why}" in message(told)
    other, _ = await created(target, "b")
    told = await target.merge(f"{other}/status", conditions(APPROVED), code=422)
    why = 'Forbidden: updates may not add a condition of type "Approved"'
    assert f"status.conditions: {why}" in message(told)


async def test_a_certificate_is_issued_once(target: Target) -> None:
    path, _ = await created(target)
    told = await target.merge(f"{path}/status", {"status": {"certificate": "eA=="}}, code=422)
    why = 'Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block'
    assert f"status.certificate: {why}" in message(told)
    issued = await target.merge(
        f"{path}/status", {"status": {"certificate": CERTIFICATE}}, fieldManager="me"
    )
    assert issued["status"] == {"certificate": CERTIFICATE}
    assert owners(issued)["me Update status"] == {"f:status": {"f:certificate": {}}}
    again = b64encode(authority("another").pem).decode()
    told = await target.merge(f"{path}/status", {"status": {"certificate": again}}, code=422)
    assert "updates may not modify existing certificate content" in message(told)


async def test_requests_are_selected_by_their_signer(target: Target) -> None:
    signer = f"{target.namespace}.example.com/a"
    path, _ = await created(target, signerName=signer)
    await created(target, "b")
    found = await target.names(REQUESTS, fieldSelector=f"spec.signerName={signer}")
    assert found == [path.rpartition("/")[2]]


@pytest.mark.parametrize("name", ["example.com/signer", "example.com/*"])
async def test_approving_takes_the_verb_for_the_signer(secured: SecuredServer, name: str) -> None:
    path, _ = await created(secured)
    alice = secured.acting("alice")
    await secured.grant_everywhere(
        alice, rule("get update patch", "certificatesigningrequests/approval", GROUP)
    )
    refused = await alice.merge(f"{path}/approval", conditions(APPROVED), code=403)
    why = 'user not permitted to approve requests with signerName "example.com/signer"'
    assert message(refused).endswith(f"is forbidden: {why}")
    bob = secured.acting("bob")
    await secured.grant_everywhere(
        bob,
        rule("approve", "signers", GROUP, resourceNames=[name]),
        rule("get update patch", "certificatesigningrequests/approval", GROUP),
    )
    await bob.merge(f"{path}/approval", conditions(APPROVED))


async def test_signing_takes_the_verb_for_the_signer(secured: SecuredServer) -> None:
    path, _ = await created(secured)
    alice = secured.acting("alice")
    await secured.grant_everywhere(
        alice, rule("get update patch", "certificatesigningrequests/status", GROUP)
    )
    issued = {"status": {"certificate": CERTIFICATE}}
    refused = await alice.merge(f"{path}/status", issued, code=403)
    why = 'user not permitted to sign requests with signerName "example.com/signer"'
    assert message(refused).endswith(f"is forbidden: {why}")
    bob = secured.acting("bob")
    await secured.grant_everywhere(
        bob,
        rule("sign", "signers", GROUP, resourceNames=["example.com/signer"]),
        rule("get update patch", "certificatesigningrequests/status", GROUP),
    )
    await bob.merge(f"{path}/status", issued)
