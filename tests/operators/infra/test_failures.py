"""What fails ends in a condition with a reason, and is healed or told."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from quintant.api.core import Secret
from quintant.core.object import ObjectMeta
from quintant.operators.infra.api import Cluster
from testbeds.infra import API_VERSION, KUBECONFIG, PASSWORD, InfraTestbed, condition, template

SOON: dict[str, Any] = {"reconfigure": {"backoff": "2s", "maxBackoff": "10s", "maxAttempts": 3}}


async def test_wrong_password_of_the_provider_is_told_before_anything_is_made(
    testbed: InfraTestbed,
) -> None:
    testbed.model.faults.password = "right"
    await testbed.provider()
    await testbed.cloud()
    await testbed.make(cloudRef={"name": "here"})
    found = await testbed.state("FAILED")
    assert condition(found, "Stalled") == ("True", "Unauthorized")
    assert testbed.model.creations() == 0
    await testbed.secret("im-cred", password="right")
    await testbed.condition("Stalled", "False", within=5)
    await testbed.state("ONLINE")


async def test_wrong_password_of_the_cloud_is_told_before_anything_is_made(
    testbed: InfraTestbed,
) -> None:
    testbed.model.faults.cloud_password = "right"
    await testbed.provider()
    await testbed.openstack()
    await testbed.make(cloudRef={"name": "here"})
    found = await testbed.state("FAILED", within=10)
    assert condition(found, "CredentialsValid") == ("False", "CloudUnauthorized")
    assert testbed.model.infrastructures == {}
    await testbed.secret("here-cred", password="right")
    await testbed.state("ONLINE")
    assert testbed.model.creations() == 1


async def test_password_that_changes_while_it_runs_is_told_and_nothing_is_lost(
    testbed: InfraTestbed,
) -> None:
    await testbed.everything()
    testbed.model.faults.password = "right"
    found = await testbed.state("FAILING_RECONCILIATION", within=200)
    assert condition(found, "InfrastructureReady") == ("False", "Unauthorized")
    testbed.model.faults.password = PASSWORD
    await testbed.secret("im-cred", note="touched")
    await testbed.state("ONLINE", within=30)
    assert testbed.model.creations() == 1


async def test_passwords_and_domains_arrive_as_they_are(testbed: InfraTestbed) -> None:
    await testbed.provider()
    await testbed.openstack("0-here")
    await testbed.make()
    await testbed.state("ONLINE")
    sent = next(record for name, record in testbed.model.sent if name == "create")
    assert sent == {
        "id": "c.0-here", "type": "OpenStack", "host": "https://keystone.example.com:5000",
        "username": "alice", "password": PASSWORD, "tenant": "shop",
        "auth_version": "3.x_password", "domain": "people", "tenant_domain_id": "d-7",
        "service_region": "eu", "im.username": "us", "im.password": PASSWORD,
    }  # fmt: skip


async def test_template_that_is_none_is_refused_until_it_changes(testbed: InfraTestbed) -> None:
    trace = 'Error parsing request body: no such type\\n\\t\\tFile \\"/opt/im/x.py\\", line 1'
    testbed.model.faults.plan_fail = (400, trace)
    await testbed.provider()
    await testbed.cloud()
    await testbed.make()
    found = await testbed.state("FAILED")
    assert condition(found, "TemplateValid") == ("False", "TemplateInvalid")
    assert found.status is not None
    assert "no such type" in found.status.phase_message
    assert "File" not in found.status.phase_message
    plans = testbed.model.count("plan")
    await testbed.cluster.advance(3600)
    assert testbed.model.count("plan") == plans
    testbed.model.faults.plan_fail = None
    await testbed.edit(tosca=template(2))
    await testbed.state("ONLINE")
    assert condition(await testbed.get(), "TemplateValid") == ("True", "Accepted")


async def test_import_out_of_reach_is_waited_for(testbed: InfraTestbed) -> None:
    said = "Error parsing request body: URLException: Failed to reach server"
    testbed.model.faults.plan_fail = (400, said)
    await testbed.provider()
    await testbed.cloud()
    await testbed.make()
    await testbed.condition("ProviderReachable", "False", "ImportUnreachable")
    assert (await testbed.get()).status.state == "CREATING"  # type: ignore[union-attr]
    testbed.model.faults.plan_fail = None
    await testbed.state("ONLINE", within=400)


async def test_quota_at_creation_is_healed_once_it_is_lifted(testbed: InfraTestbed) -> None:
    testbed.model.faults.launch_fail = "403 Forbidden Quota exceeded"
    await testbed.provider()
    await testbed.cloud()
    await testbed.make(**SOON)
    found = await testbed.state("FAILING_RECONCILIATION")
    assert found.status is not None
    assert "Quota exceeded" in found.status.phase_message
    testbed.model.faults.launch_fail = ""
    await testbed.state("ONLINE", within=300)
    assert testbed.model.creations() == 1
    assert testbed.model.running == ["front", "wn"]


async def test_quota_at_an_update_leaves_what_is_there(testbed: InfraTestbed) -> None:
    await testbed.everything()
    testbed.model.faults.launch_fail = "Quota exceeded"
    await testbed.scale(3)
    found = await testbed.state("FAILING_RECONCILIATION")
    assert condition(found, "Synced") == ("False", "QuotaExceeded")
    updates = testbed.model.count("update")
    await testbed.cluster.advance(100)
    assert testbed.model.count("update") - updates <= 3
    assert testbed.model.running == ["front", "wn"]
    assert found.status is not None
    assert found.status.last_applied_tosca is not None
    assert found.status.last_applied_tosca.value == template(1)
    testbed.model.faults.launch_fail = ""
    await testbed.state("ONLINE", within=700)
    assert testbed.model.running == ["front", "wn", "wn", "wn"]


async def test_what_is_not_configured_is_configured_again(testbed: InfraTestbed) -> None:
    testbed.model.faults.no_address = True
    await testbed.provider()
    await testbed.cloud()
    await testbed.make(**SOON)
    seen = await testbed.states_of(seconds=15)
    assert "CONNECTING" not in seen
    assert "FAILING_RECONCILIATION" in seen
    testbed.model.faults.no_address = False
    await testbed.state("ONLINE", within=100)
    assert testbed.model.count("reconfigure") >= 1
    assert testbed.model.creations() == 1


async def test_what_never_gets_better_is_failed_and_retried_when_asked(
    testbed: InfraTestbed,
) -> None:
    testbed.model.faults.no_address = True
    await testbed.provider()
    await testbed.cloud()
    await testbed.make(**SOON)
    found = await testbed.state("FAILED", within=600)
    assert condition(found, "Stalled") == ("True", "ReconfigureFailed")
    assert testbed.model.count("reconfigure") == 3
    await testbed.cluster.advance(3600)
    assert testbed.model.count("reconfigure") == 3
    testbed.model.faults.no_address = False
    await testbed.annotate(retry="now")
    await testbed.state("ONLINE", within=100)


async def test_machine_that_failed_is_replaced_if_that_is_wanted(testbed: InfraTestbed) -> None:
    await testbed.everything(replaceFailedVMs=True, **SOON)
    testbed.model.only().machines["1"].state = "failed"
    found = await testbed.state("FAILING_RECONCILIATION", within=100)
    assert found.status is not None
    assert "machine 1: failed" in found.status.phase_message
    await testbed.state("ONLINE", within=300)
    assert sorted(testbed.model.only().machines) == ["0", "2"]
    assert testbed.model.count("replace") == 1


async def test_machine_that_failed_is_told_and_left(testbed: InfraTestbed) -> None:
    await testbed.everything(**SOON)
    testbed.model.faults.machine_state = "failed"
    await testbed.state("FAILING_RECONCILIATION", within=100)
    await testbed.cluster.advance(100)
    assert testbed.model.count("replace") == 0
    assert sorted(testbed.model.only().machines) == ["0", "1"]


async def test_machine_that_vanished_is_made_anew(testbed: InfraTestbed) -> None:
    await testbed.everything(**SOON)
    model = testbed.model
    model.cloud.pop("inf-1/1")
    model.only().machines.pop("1")
    await testbed.condition("InfrastructureReady", "False", "MachinesMissing", within=200)
    await testbed.state("ONLINE", within=300)
    assert model.running == ["front", "wn"]


async def test_stopped_machines_are_told_and_come_back_by_themselves(
    testbed: InfraTestbed,
) -> None:
    await testbed.everything(**SOON)
    testbed.model.faults.machine_state = "stopped"
    await testbed.condition("InfrastructureReady", "False", "Stopped", within=100)
    await testbed.state("FAILED", within=600)
    testbed.model.faults.machine_state = ""
    await testbed.state("ONLINE", within=400)


async def test_silence_of_the_cloud_is_patiently_waited_for(testbed: InfraTestbed) -> None:
    await testbed.everything(**SOON)
    testbed.model.faults.machine_state = "unknown"
    await testbed.cluster.advance(120)
    assert (await testbed.get()).status.state == "ONLINE"  # type: ignore[union-attr]
    await testbed.condition("InfrastructureReady", "False", "CloudUnreachable", within=300)
    testbed.model.faults.machine_state = ""
    await testbed.state("ONLINE", within=400)


@pytest.mark.parametrize(
    ("server", "reason"),
    [
        ("http://made.example.com:6443", "KubeconfigInvalid"),
        ("https://169.254.169.254", "KubeconfigInvalid"),
        ("https://[::ffff:169.254.169.254]:6443", "KubeconfigInvalid"),
        ("https://2852039166", "KubeconfigInvalid"),
        ("https://None:6443", "KubeconfigMissing"),
        ("https://:6443", "KubeconfigMissing"),
    ],
)
async def test_no_connection_is_made_to(testbed: InfraTestbed, server: str, reason: str) -> None:
    text = KUBECONFIG.replace("https://SERVER:6443", server)
    await testbed.provider()
    await testbed.cloud()
    await testbed.make(tosca=template(kubeconfig=text))
    await testbed.condition("KubeconfigReady", "False", reason)
    found = await testbed.state("FAILED", within=600)
    assert condition(found, "Stalled") == ("True", reason)
    assert await testbed.cluster.client.find(Secret, "one-kubeconfig", "default") is None
    assert testbed.targets.looks == 0
    assert testbed.model.running == ["front", "wn"]


async def test_kubeconfig_that_comes_late_is_waited_for(testbed: InfraTestbed) -> None:
    testbed.model.faults.outputs_missing = True
    await testbed.provider()
    await testbed.cloud()
    await testbed.make()
    await testbed.condition("KubeconfigReady", "False", "KubeconfigMissing")
    testbed.model.faults.outputs_missing = False
    await testbed.state("ONLINE", within=100)


async def test_template_lost_by_the_provider_is_sent_again(testbed: InfraTestbed) -> None:
    await testbed.everything()
    testbed.model.crash()
    testbed.targets.down.add("made.example.com")
    await testbed.state("OFFLINE", within=300)
    testbed.targets.down.clear()
    await testbed.state("ONLINE", within=600)
    assert not testbed.model.only().template_lost
    assert testbed.model.creations() == 1


async def test_secret_that_was_deleted_or_edited_is_restored(testbed: InfraTestbed) -> None:
    await testbed.everything()
    secret = await testbed.cluster.get(Secret, "one-kubeconfig")
    wanted = secret.reveal("value")
    await testbed.cluster.client.delete(secret)
    found = await testbed.cluster.eventually(Secret, "one-kubeconfig", within=60)
    assert found.reveal("value") == wanted
    path = "/api/v1/namespaces/default/secrets/one-kubeconfig"
    await testbed.merge(path, {"stringData": {"value": "mine"}})
    await testbed.cluster.eventually(
        Secret, "one-kubeconfig", until=lambda it: it.reveal("value") == wanted, within=60
    )
    await testbed.state("ONLINE")


async def test_secret_of_somebody_else_is_not_taken(testbed: InfraTestbed) -> None:
    meta = ObjectMeta(name="one-kubeconfig", namespace="default")
    await testbed.cluster.create(Secret(metadata=meta, string_data={"value": "mine"}))
    await testbed.provider()
    await testbed.cloud()
    await testbed.make()
    found = await testbed.state("FAILED")
    assert condition(found, "KubeconfigReady") == ("False", "NameTaken")
    kept = await testbed.cluster.get(Secret, "one-kubeconfig")
    assert kept.reveal("value") == b"mine"


async def test_what_cannot_be_taken_out_of_a_template_is_told(testbed: InfraTestbed) -> None:
    document = template()
    document["topology_template"]["node_templates"]["db"] = {"type": "tosca.nodes.Compute"}
    await testbed.everything(tosca=document)
    await testbed.edit(tosca={"topology_template": {"node_templates": {"db": None}}})
    found = await testbed.condition("TemplateDrift", "True")
    assert "/topology_template/node_templates/db" in str(found.status)


async def test_operations_longer_than_their_time_end_well(testbed: InfraTestbed) -> None:
    testbed.model.faults.prepare, testbed.model.faults.finalize = 300, 300
    await testbed.provider()
    await testbed.cloud()
    await testbed.make(timeouts={"create": "1m", "delete": "1m"})
    found = await testbed.state("FAILED", within=200)
    assert condition(found, "Stalled") == ("True", "CreateTimeout")
    await testbed.state("ONLINE", within=900)
    await testbed.delete()
    await testbed.state("FAILED", within=400)
    await testbed.gone(within=900)
    assert testbed.model.running == []


async def test_provider_that_only_reads_is_waited_for(testbed: InfraTestbed) -> None:
    await testbed.everything()
    testbed.model.faults.disabled = True
    await testbed.scale(2)
    await testbed.condition("ProviderReachable", "False", "ProviderDisabled")
    testbed.model.faults.disabled = False
    await testbed.cluster.eventually(
        Cluster, "one", until=lambda it: len(testbed.model.running) == 3, within=900
    )
    await testbed.state("ONLINE")


@pytest.mark.parametrize("held", ["outage", "paused"])
async def test_edit_that_was_not_applied_does_not_look_applied(
    testbed: InfraTestbed, held: str
) -> None:
    await testbed.everything()
    testbed.model.faults.down = held == "outage"
    await testbed.edit(paused=held == "paused")
    await testbed.scale(2)
    await testbed.cluster.advance(60)
    found = await testbed.get()
    assert found.status is not None
    assert found.status.observed_generation == found.metadata.generation
    assert condition(found, "Synced") == ("False", "NotApplied")
    assert condition(found, "Ready") == ("Unknown", "NotApplied")
    testbed.model.faults.down = False
    await testbed.edit(paused=False)
    found = await testbed.condition("Ready", "True", within=120)
    assert condition(found, "Synced") == ("True", "Applied")
    assert testbed.model.running == ["front", "wn", "wn"]


async def test_edit_that_is_taken_back_during_an_outage_is_applied(testbed: InfraTestbed) -> None:
    await testbed.everything()
    testbed.model.faults.down = True
    await testbed.scale(2)
    await testbed.condition("Synced", "False", "NotApplied")
    await testbed.scale(1)
    found = await testbed.condition("Synced", "True", "Applied")
    assert condition(found, "Ready") == ("True", "Ready")
    assert testbed.model.count("update") == 0


@pytest.mark.parametrize(
    "body", [b"Internal Server Error", b'{"message": "it broke", "code": 500}']
)
async def test_error_of_the_provider_that_passes_leaves_nothing_behind(
    testbed: InfraTestbed, body: bytes
) -> None:
    await testbed.everything()
    testbed.model.faults.page = (500, body)
    found = await testbed.condition("ProviderReachable", "False", "ProviderError")
    await testbed.cluster.advance(600)
    # The cluster itself is well, for all that is known.
    assert condition(found, "Ready") == ("True", "Ready")
    testbed.model.faults.page = None
    found = await testbed.condition("ProviderReachable", "True", within=60)
    assert found.status is not None
    assert found.status.state == "ONLINE"
    assert condition(found, "Synced") == ("True", "Applied")
    assert testbed.model.count("update", "reconfigure") == 0


async def test_condition_that_an_older_version_left_is_put_right(testbed: InfraTestbed) -> None:
    found = await testbed.everything()
    assert found.status is not None
    conditions = [
        {**msgspec.to_builtins(each), **({"status": "False"} if each.type == "Synced" else {})}
        for each in found.status.conditions
    ]
    path = f"/apis/{API_VERSION}/namespaces/default/clusters/one/status"
    await testbed.merge(path, {"status": {"conditions": conditions}})
    await testbed.condition("Synced", "True", "Applied", within=120)
