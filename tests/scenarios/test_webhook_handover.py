"""An operator is in production, and is debugged elsewhere: its webhooks go there and back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from structlog.testing import capture_logs

from quintant.api.apiextensions import CustomResourceDefinition
from quintant.runtime.manager.install_crds import install_manager_crds
from quintant.testing import InProcessCluster
from testbeds.webhook_handover import (
    AT_SERVICE,
    ON_LAPTOP,
    OURS,
    THEIRS,
    URL,
    HandoverTestbed,
    ships,
)


@contextmanager
def lines() -> Iterator[list[str]]:
    found: list[str] = []
    with capture_logs() as entries:
        yield found
    found += [f"{each['event']} {each.get('object')}" for each in entries]


@pytest.fixture
async def testbed(cluster: InProcessCluster) -> HandoverTestbed:
    testbed = HandoverTestbed(cluster.client)
    await testbed.apply_manifests()
    await testbed.in_cluster(OURS)
    assert await testbed.addresses() == AT_SERVICE
    return testbed


async def test_webhooks_that_manifests_put_behind_a_service_are_asked_at_the_url(
    testbed: HandoverTestbed,
) -> None:
    with lines() as logged:
        await testbed.on_laptop(THEIRS)
    assert await testbed.addresses() == ON_LAPTOP
    assert logged == [
        "moved webhooks here from their Service ships-mutating-webhook-configuration",
        "moved webhooks here from their Service ships-validating-webhook-configuration",
        "moved conversion here from its Service ships.ships.dev",
    ]


async def test_program_that_runs_in_the_cluster_leaves_them_there_and_says_so_once(
    testbed: HandoverTestbed,
) -> None:
    await testbed.on_laptop(THEIRS)
    with lines() as logged:
        await testbed.in_cluster(OURS)
        await testbed.in_cluster(OURS)
    assert await testbed.addresses() == ON_LAPTOP
    assert [line.rpartition(" ")[0] for line in logged] == [
        "left webhooks to a program with --webhook-url"
    ] * 3


async def test_program_that_ends_gives_them_back_as_they_were(testbed: HandoverTestbed) -> None:
    await testbed.on_laptop(THEIRS)
    await testbed.laptop_ends()
    assert await testbed.addresses() == AT_SERVICE
    with lines() as logged:
        await testbed.in_cluster(OURS)
        await testbed.laptop_ends()
    assert logged == []


async def test_program_that_was_killed_loses_them_to_the_one_that_starts_in_the_cluster(
    testbed: HandoverTestbed,
) -> None:
    await testbed.on_laptop(THEIRS)
    with lines() as logged:
        await HandoverTestbed(testbed.client).in_cluster(OURS)
    assert await testbed.addresses() == AT_SERVICE
    assert len(logged) == 3
    await testbed.laptop_ends()
    assert await testbed.addresses() == AT_SERVICE


async def test_manifests_can_be_applied_again_when_they_are_back(testbed: HandoverTestbed) -> None:
    await testbed.on_laptop(THEIRS)
    await testbed.laptop_ends()
    await testbed.apply_manifests()
    assert await testbed.addresses() == AT_SERVICE


async def test_laptop_that_renews_its_certificate_remembers_where_they_were(
    testbed: HandoverTestbed,
) -> None:
    await testbed.on_laptop(OURS)
    await testbed.on_laptop(THEIRS)
    assert await testbed.addresses() == ON_LAPTOP
    await testbed.laptop_ends()
    assert await testbed.addresses() == AT_SERVICE


async def test_definitions_that_the_laptop_installs_first_are_given_back_too(
    testbed: HandoverTestbed,
) -> None:
    manager = ships()
    manager.configure(webhook_url=URL)
    await install_manager_crds(testbed.client.rest.transport, manager, "home")
    await testbed.on_laptop(THEIRS)
    assert await testbed.addresses() == ON_LAPTOP
    await testbed.laptop_ends()
    assert await testbed.addresses() == AT_SERVICE


async def test_what_the_laptop_made_itself_stays_as_it_is(cluster: InProcessCluster) -> None:
    testbed, manager = HandoverTestbed(cluster.client), ships()
    manager.configure(webhook_url=URL)
    await install_manager_crds(cluster.admin, manager, "home")
    await testbed.on_laptop(THEIRS)
    await testbed.laptop_ends()
    assert await testbed.addresses() == ON_LAPTOP


@pytest.mark.parametrize("text", ["", "nonsense", "[]", "{}", '{"a":1}', '{"webhook":[]}'])
async def test_annotation_that_makes_no_sense_changes_nothing(
    testbed: HandoverTestbed, text: str
) -> None:
    for kind, name in testbed.webhooks.targets():
        found = await testbed.client.get(kind, name, live=True)
        await testbed.client.annotate(found, {"quintant.dev/former-webhook-address": text})
    await testbed.laptop_ends()
    assert await testbed.addresses() == AT_SERVICE
    definition = await testbed.client.get(CustomResourceDefinition, "ships.ships.dev", live=True)
    assert definition.spec.conversion is not None
