"""The webhooks refuse what breaks a rule, all of it at once, and warn of what may be a mistake."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from quintant.core.codec import to_plain
from quintant.core.errors import Forbidden, Invalid
from quintant.operators.portal import controllers
from quintant.operators.portal.api import DEFAULT_CLASS, FINALIZER, PortalExpose
from quintant.operators.portal.options import Options
from quintant.runtime.manager.manager import Manager
from testbeds.portal import CLASSES, EXPOSES, PortalTestbed, exposing


def test_endpoints_and_names_are_those_of_the_contract() -> None:
    manager = Manager("portal")
    controllers(manager, Options())
    hooks = {hook.path: hook for hook in manager.webhooks.hooks}
    expose = hooks["/validate-portal-gosuda-org-v1alpha1-portalexpose"]
    tunnels = hooks["/validate-portal-gosuda-org-v1alpha1-tunnelclass"]
    assert len(hooks) == 2
    assert (expose.name, tunnels.name) == (
        "vportalexpose-v1alpha1.kb.io",
        "vtunnelclass-v1alpha1.kb.io",
    )
    assert expose.operations == ("CREATE", "UPDATE")
    assert tunnels.operations == ("CREATE", "UPDATE", "DELETE")
    for hook in hooks.values():
        settings = hook.settings
        assert (settings.failure_policy, settings.side_effects) == ("Fail", "None")
        assert (settings.match_policy, settings.timeout_seconds) == ("Equivalent", 5)


def tangled() -> dict[str, Any]:
    """Three rules broken in ways that no schema sees."""
    made = to_plain(exposing())
    made["spec"]["app"]["service"]["name"] = "Web_1"
    made["spec"]["relay"]["targets"] = [
        {"name": "a", "url": "wss://user:secret@relay.example.com"},
        {"name": "b", "url": "wss://"},
    ]
    return made


async def test_every_broken_rule_is_named_in_one_refusal(testbed: PortalTestbed) -> None:
    with pytest.raises((Invalid, Forbidden)) as refused:
        await testbed.cluster.client.raw("POST", EXPOSES, body=msgspec.json.encode(tangled()))
    for path in ("spec.app.service.name", "spec.relay.targets[0].url", "spec.relay.targets[1].url"):
        assert path in refused.value.message
    assert "secret" not in refused.value.message


@pytest.mark.parametrize(
    "change",
    [
        {"app": {"name": "A_b"}},
        {"app": {"service": {"port": 0}}},
        {"relay": {"targets": []}},
        {"relay": {"targets": [{"name": "a", "url": "ws://relay.example.com"}]}},
    ],
    ids=str,
)
async def test_seeds_of_trouble_are_refused_at_the_door(
    testbed: PortalTestbed, change: Any
) -> None:
    await testbed.ready()
    with pytest.raises((Invalid, Forbidden)):
        await testbed.merge(f"{EXPOSES}/shop", {"spec": change})


async def test_missing_parts_and_taken_names_are_warned_of(testbed: PortalTestbed) -> None:
    status, warned = await testbed.sent("POST", EXPOSES, to_plain(exposing()))
    assert status == 201
    assert "Service 'web' does not exist" in warned[0]
    assert DEFAULT_CLASS in warned[0]
    await testbed.serve()
    await testbed.classed()
    await testbed.cluster.advance(1)
    status, warned = await testbed.sent("POST", EXPOSES, to_plain(exposing("other", app="shop")))
    assert status == 201
    assert "claimed by PortalExpose default/shop" in warned[0]


async def test_second_default_and_deletion_of_a_used_class_are_warned_of(
    testbed: PortalTestbed,
) -> None:
    await testbed.ready()
    second = {
        "metadata": {"name": "second", "annotations": {DEFAULT_CLASS: "true"}},
        "spec": {"replicas": 1, "size": "small"},
    }
    body = {"apiVersion": "portal.gosuda.org/v1alpha1", "kind": "TunnelClass", **second}
    status, warned = await testbed.sent("POST", CLASSES, body)
    assert status == 201
    assert "small is the default already" in warned[0]
    await testbed.cluster.advance(1)
    status, warned = await testbed.sent("DELETE", f"{CLASSES}/second")
    assert status == 200
    assert "in use by default/shop" in warned[0]


async def test_bad_tolerations_are_refused(testbed: PortalTestbed) -> None:
    with pytest.raises((Invalid, Forbidden), match=r"spec\.tolerations\[0\]"):
        await testbed.classed(tolerations=({"operator": "Maybe"},))


async def test_object_older_than_its_rules_can_be_labelled_and_can_go(
    testbed: PortalTestbed,
) -> None:
    assert testbed.engine is not None
    await testbed.cluster.crash(testbed.engine)
    hooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
    await testbed.cluster.client.raw("DELETE", f"{hooks}/portal-validating-webhook-configuration")
    made = tangled()
    made["metadata"]["finalizers"] = [FINALIZER]
    await testbed.cluster.client.raw("POST", EXPOSES, body=msgspec.json.encode(made))
    await testbed.start()
    await testbed.merge(f"{EXPOSES}/shop", {"metadata": {"labels": {"a": "b"}}})
    await testbed.serve()
    await testbed.classed()
    found = await testbed.phase("Failed")
    assert found.status is not None
    said = next(each for each in found.status.conditions if each.type == "Available")
    assert said.reason == "InvalidSpec"
    assert "InvalidSpec" in await testbed.reasons()
    await testbed.cluster.client.delete(found)
    await testbed.cluster.wait_deleted(PortalExpose, "shop")


async def test_a_service_without_a_name_is_refused_with_its_field(testbed: PortalTestbed) -> None:
    with pytest.raises(Invalid, match=r"spec\.app\.service\.name"):
        await testbed.expose(service="")
