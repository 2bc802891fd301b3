"""Every rule of the webhooks, as the API server asks: what is refused, and with which words.

Some of it a schema refuses first; here nobody has looked before, as with a definition of old.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from quintant.core.codec import to_plain
from quintant.operators.portal.api import DEFAULT_CLASS
from testbeds.portal import PortalTestbed, exposing

UID = "705ab4f5-6393-11e8-b7cc-42010a800002"
EXPOSE = "/validate-portal-gosuda-org-v1alpha1-portalexpose"
CLASS = "/validate-portal-gosuda-org-v1alpha1-tunnelclass"
TARGETS = "spec.relay.targets"
JsonObject = dict[str, Any]


def expose(**changes: Any) -> JsonObject:
    """A PortalExpose; names are paths within its spec, with underscores for dots."""
    made = to_plain(exposing(relays=2))
    for path, value in changes.items():
        where, *steps = [made["spec"], *path.split("_")]
        for step in steps[:-1]:
            where = where[int(step) if step.isdigit() else step]
        where[steps[-1]] = value
    return made


def tunnels(**spec: Any) -> JsonObject:
    """A TunnelClass."""
    return {
        "apiVersion": "portal.gosuda.org/v1alpha1",
        "kind": "TunnelClass",
        "metadata": {"name": "small"},
        "spec": {"replicas": 1, "size": "small"} | spec,
    }


def review(new: JsonObject | None, old: JsonObject | None = None, **request: Any) -> bytes:
    operation = "UPDATE" if new and old else "CREATE" if new else "DELETE"
    kind = (new or old or {}).get("kind", "PortalExpose")
    about = {
        "uid": UID,
        "kind": {"group": "portal.gosuda.org", "version": "v1alpha1", "kind": kind},
        "operation": operation,
        "object": new,
        "oldObject": old,
        **request,
    }
    return msgspec.json.encode(
        {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": about}
    )


async def asked(testbed: PortalTestbed, path: str, body: bytes) -> JsonObject:
    """The response to a review."""
    assert testbed.engine is not None
    assert testbed.engine.webhooks is not None
    answer = msgspec.json.decode(await testbed.engine.webhooks.reviews.review(path, body))
    response: JsonObject = answer["response"]
    assert response["uid"] == UID
    return response


RULES: dict[str, tuple[Callable[[], JsonObject], str]] = {
    "an app that is no label": (lambda: expose(app_name="A_b"), "spec.app.name"),
    "an app of 64 letters": (lambda: expose(app_name="a" * 64), "spec.app.name"),
    "port 0": (lambda: expose(app_service_port=0), "spec.app.service.port"),
    "port 65536": (lambda: expose(app_service_port=65_536), "spec.app.service.port"),
    "no relay": (lambda: expose(relay_targets=[]), TARGETS),
    "a relay's name twice": (lambda: expose(relay_targets_1_name="r0"), f"{TARGETS}[1].name"),
    "ws://": (lambda: expose(relay_targets_1_url="ws://r.example.com"), f"{TARGETS}[1].url"),
    "no host": (lambda: expose(relay_targets_0_url="wss:///relay"), f"{TARGETS}[0].url"),
    "no URL": (lambda: expose(relay_targets_0_url="wss://[x"), f"{TARGETS}[0].url"),
    "a password": (lambda: expose(relay_targets_0_url="wss://a:b@r.org"), f"{TARGETS}[0].url"),
    "a fragment": (lambda: expose(relay_targets_0_url="wss://r.org/#x"), f"{TARGETS}[0].url"),
    "a Service that cannot be": (lambda: expose(app_service_name="9"), "spec.app.service.name"),
}


@pytest.mark.parametrize("rule", RULES)
async def test_broken_rule_of_a_portal_expose_is_refused(testbed: PortalTestbed, rule: str) -> None:
    made, field = RULES[rule]
    for old in (None, expose()):
        told = await asked(testbed, EXPOSE, review(made(), old))
        assert told["allowed"] is False
        assert (told["status"]["code"], told["status"]["reason"]) == (422, "Invalid")
        assert field in told["status"]["message"]


CLASS_RULES: dict[str, tuple[JsonObject, str]] = {
    "no tunnel": ({"replicas": 0}, "spec.replicas"),
    "a size that is none": ({"size": "huge"}, "spec.size"),
    "a label that is none": ({"nodeSelector": {"a b": "c"}}, "spec.nodeSelector"),
    "an operator that is none": ({"tolerations": [{"operator": "May"}]}, "spec.tolerations[0]"),
    "an effect that is none": (
        {"tolerations": [{"key": "a", "effect": "Never"}]},
        "spec.tolerations[0]",
    ),
    "no key, and not Exists": ({"tolerations": [{"value": "a"}]}, "spec.tolerations[0]"),
}


@pytest.mark.parametrize("rule", CLASS_RULES)
async def test_broken_rule_of_a_class_is_refused(testbed: PortalTestbed, rule: str) -> None:
    spec, field = CLASS_RULES[rule]
    told = await asked(testbed, CLASS, review(tunnels(**spec)))
    assert told["allowed"] is False
    assert told["status"]["code"] == 422
    assert field in told["status"]["message"]


async def test_three_broken_rules_are_one_refusal_that_names_all(testbed: PortalTestbed) -> None:
    made = expose(app_name="A_b", app_service_port=0, relay_targets_0_url="ws://a")
    told = await asked(testbed, EXPOSE, review(made, dryRun=True))
    fields = {cause["field"] for cause in told["status"]["details"]["causes"]}
    assert fields == {"spec.app.name", "spec.app.service.port", f"{TARGETS}[0].url"}
    assert all(field in told["status"]["message"] for field in fields)


async def test_what_is_right_passes_and_so_does_a_dry_run(testbed: PortalTestbed) -> None:
    await testbed.serve()
    await testbed.classed()
    await testbed.cluster.advance(1)
    for dry in (False, True):
        told = await asked(testbed, EXPOSE, review(expose(), dryRun=dry))
        assert told["allowed"] is True
        assert not told.get("warnings")


async def test_object_of_old_may_keep_its_fault_and_may_go(testbed: PortalTestbed) -> None:
    wrong = expose(app_name="A_b")
    labelled = {**wrong, "metadata": {**wrong["metadata"], "labels": {"a": "b"}}}
    assert (await asked(testbed, EXPOSE, review(labelled, wrong)))["allowed"] is True
    going = expose(app_name="C_d")
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert (await asked(testbed, EXPOSE, review(going, wrong)))["allowed"] is True


async def test_relay_without_a_name_is_warned_of(testbed: PortalTestbed) -> None:
    told = await asked(testbed, EXPOSE, review(expose(relay_targets_0_url="wss://10.0.0.1/relay")))
    assert told["allowed"] is True
    assert any("IP address" in said for said in told["warnings"])


async def test_users_of_a_class_that_goes_are_named_ten_at_most(testbed: PortalTestbed) -> None:
    await testbed.classed()
    for at in range(12):
        await testbed.expose(f"shop-{at:02}")
    await testbed.cluster.advance(1)
    old = tunnels()
    old["metadata"]["annotations"] = {DEFAULT_CLASS: "true"}
    told = await asked(testbed, CLASS, review(None, old))
    assert told["allowed"] is True
    (said,) = told["warnings"]
    assert said.count("default/shop-") == 10
    assert "and 2 more" in said


async def test_review_without_an_object_is_no_verdict(testbed: PortalTestbed) -> None:
    told = await asked(testbed, EXPOSE, review(None, None, operation="CREATE"))
    assert told["allowed"] is False
    assert told["status"]["code"] == 400


@pytest.mark.parametrize(
    ("body", "kind", "code"),
    [(b"{}", "text/plain", 415), (b"nonsense", "application/json", 400)],
)
async def test_what_is_no_review_gets_no_review(
    testbed: PortalTestbed, body: bytes, kind: str, code: int
) -> None:
    assert testbed.engine is not None
    assert testbed.engine.webhooks is not None
    reply = await testbed.engine.webhooks.reviews.answer(EXPOSE, body, kind)
    assert reply.status == code
