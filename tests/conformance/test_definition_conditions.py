"""What a definition's conditions say of its approval and of whom it believes; its list's kind."""

from __future__ import annotations

from base64 import b64encode

import pytest

from conformance.crds import conditions, eventually, spec, text
from conformance.target import Target, definition, until
from unit.cluster.api import CRDS, JsonObject
from unit.cluster.certificates import authority

ANNOTATION = "api-approved.kubernetes.io"
CONFORMANT = "KubernetesAPIApprovalPolicyConformant"
PULL = "https://github.com/kubernetes/kubernetes/pull/1"
ESTABLISHED = ("True", "InitialNamesAccepted", "the initial names have been accepted")
NOBODY = "data without any certificate"
BLOCK = "-----BEGIN {0}-----\nAAAA\n-----END {0}-----\n"
UNREADABLE = "unable to load root certificates"
BROKEN: tuple[tuple[str, str], ...] = (
    (NOBODY, f"{UNREADABLE}: unable to parse bytes as PEM block"),
    (BLOCK.format("OTHER"), f"{UNREADABLE}: no valid certificate authority data seen"),
    (BLOCK.format("CERTIFICATE"), f"{UNREADABLE}: failed to parse certificate: x509: malformed"),
)


@pytest.mark.parametrize(
    ("annotation", "condition"),
    [
        (PULL, ("True", "ApprovedAnnotation", f"approved in {PULL}")),
        (
            "unapproved, a try",
            ("False", "UnapprovedAnnotation", 'not approved: "unapproved, a try"'),
        ),
    ],
)
async def test_a_definition_of_a_protected_group_says_who_approved_it(
    target: Target, annotation: str, condition: tuple[str, str, str]
) -> None:
    group = f"{target.namespace}.sigs.k8s.io"
    crd = definition(group, spec(a=text()))
    crd["metadata"]["annotations"] = {ANNOTATION: annotation}
    await target.create(CRDS, crd)
    found = await eventually(
        target, f"{CRDS}/foos.{group}", lambda crd: CONFORMANT in conditions(crd)
    )
    assert conditions(found)[CONFORMANT] == condition


async def test_other_groups_need_no_approval_and_say_nothing_of_it(target: Target) -> None:
    kind = await target.define(schema=spec(a=text()))
    assert CONFORMANT not in conditions(await target.get(kind.definition))


def converted(group: str, bundle: str) -> JsonObject:
    """A definition whose versions a webhook converts that is believed by a bundle."""
    crd = definition(group, spec(a=text()))
    client = {
        "caBundle": b64encode(bundle.encode()).decode(),
        "service": {"namespace": "default", "name": "none"},
    }
    webhook = {"clientConfig": client, "conversionReviewVersions": ["v1"]}
    crd["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
    return crd


def bundled(crd: JsonObject, bundle: str) -> JsonObject:
    client = crd["spec"]["conversion"]["webhook"]["clientConfig"]
    client["caBundle"] = b64encode(bundle.encode()).decode()
    return crd


@pytest.mark.parametrize("bundle", [bundle for bundle, _ in BROKEN])
async def test_a_definition_whose_webhook_nobody_could_believe_is_not_served_until_mended(
    target: Target, bundle: str
) -> None:
    group = f"{target.namespace}.example.com"
    path, foos = f"{CRDS}/foos.{group}", target.path("foos", api=f"{group}/v1")
    await target.create(CRDS, converted(group, bundle))
    wanted = ("False", "InvalidCABundle", "The conversion webhook CABundle is invalid")
    found = await eventually(
        target, path, lambda crd: conditions(crd).get("Established", ())[1:2] == wanted[1:2]
    )
    assert conditions(found)["Established"] == wanted
    assert (await target.send("GET", foos)).status >= 400
    await target.put(path, bundled(found, authority("mended").pem.decode()))
    found = await eventually(
        target, path, lambda crd: conditions(crd)["Established"] == ESTABLISHED
    )
    assert conditions(found)["Established"] == ESTABLISHED
    await eventually(target, foos, lambda _: True)


@pytest.mark.parametrize(("bundle", "refusal"), BROKEN)
async def test_the_bundle_of_a_served_definition_stays_readable(
    target: Target, bundle: str, refusal: str
) -> None:
    group = f"{target.namespace}.example.com"
    path = f"{CRDS}/foos.{group}"
    await target.create(CRDS, converted(group, authority("good").pem.decode()))
    found = await eventually(
        target, path, lambda crd: conditions(crd).get("Established") == ESTABLISHED
    )
    status = await target.put(path, bundled(found, bundle), code=422)
    (cause,) = status["details"]["causes"]
    assert cause["field"] == "spec.conversion.webhookClientConfig.caBundle"
    shown = b64encode(bundle.encode()).decode()
    assert cause["message"].startswith(f'Invalid value: "{shown}": {refusal}')


async def test_a_list_is_of_the_kind_that_its_definition_says(target: Target) -> None:
    group = f"{target.namespace}.example.com"
    crd = definition(group, spec(a=text()))
    crd["spec"]["names"]["listKind"] = "Zoo"
    await target.create(CRDS, crd)
    foos = target.path("foos", api=f"{group}/v1")
    found = await eventually(target, foos, lambda _: True)
    assert (found["kind"], found["apiVersion"]) == ("Zoo", f"{group}/v1")

    async def schemas() -> list[str]:
        reply = await target.send("GET", f"/openapi/v3/apis/{group}/v1")
        return [reply.body.decode()] if reply.status == 200 else []

    (published,) = await until(schemas, lambda found: bool(found) and '.v1.Foo"' in found[0])
    domain = ".".join(reversed(group.split(".")))
    assert f'"{domain}.v1.Zoo"' in published
    assert "FooList" not in published
