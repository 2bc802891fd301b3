"""The scheduler: where a Cluster goes, and why it does not."""

from __future__ import annotations

from testbeds.infra import API_VERSION, InfraTestbed, condition


async def message(testbed: InfraTestbed, name: str = "one") -> str:
    found = await testbed.condition("Scheduled", "False", name=name)
    assert found.status is not None
    return next(each.message for each in found.status.conditions if each.type == "Scheduled")


async def where(testbed: InfraTestbed, name: str) -> str:
    found = await testbed.condition("Scheduled", "True", name=name)
    assert found.status is not None
    assert found.status.scheduled_to is not None
    return f"{found.status.scheduled_to.kind} {found.status.scheduled_to.name}"


async def test_cloud_that_comes_later_is_taken_at_once(testbed: InfraTestbed) -> None:
    await testbed.make()
    assert "there is no cloud" in await message(testbed)
    await testbed.provider()
    await testbed.cluster.advance(2)
    await testbed.cloud()
    await testbed.condition("Scheduled", "True", within=2)


async def test_nobody_is_warned_of_a_cloud_that_takes_a_moment(testbed: InfraTestbed) -> None:
    testbed.model.faults.down = True
    await testbed.make()
    await testbed.cluster.advance(1)
    await testbed.cloud()
    await testbed.provider()
    assert "not ready" in await message(testbed)
    await testbed.cluster.advance(8)
    testbed.model.faults.down = False
    await testbed.state("ONLINE")
    assert [each for each in await testbed.events() if each[0] == "Warning"] == []


async def test_who_has_no_cloud_for_a_while_is_warned_once(testbed: InfraTestbed) -> None:
    await testbed.make()
    await testbed.cluster.advance(20)
    assert await testbed.events() == []
    await testbed.cluster.advance(600)
    (warned,) = await testbed.events()
    assert warned[:2] == ("Warning", "NoMatchingCloud")
    assert "there is no cloud" in warned[2]


async def test_global_cloud_is_taken_only_if_no_other_fits(testbed: InfraTestbed) -> None:
    await testbed.provider()
    await testbed.provider("im", "")
    await testbed.cloud("far", "", labels={"location": "US"})
    await testbed.cloud("near", labels={"location": "DE"})
    await testbed.cluster.advance(3)
    await testbed.make("one")
    assert await where(testbed, "one") == "Cloud near"
    await testbed.make("two", constraints={"cloud": {"labels": ["location is US"]}})
    assert await where(testbed, "two") == "GlobalCloud far"
    await testbed.state("ONLINE", "two")


async def test_namespaced_cloud_may_use_a_global_provider(testbed: InfraTestbed) -> None:
    await testbed.provider("im", "")
    ref = {"kind": "GlobalInfrastructureProvider", "name": "im"}
    await testbed.cloud("near", providerRef=ref)
    await testbed.make()
    await testbed.state("ONLINE")


async def test_every_cloud_has_a_line_that_says_why_it_does_not_fit(testbed: InfraTestbed) -> None:
    await testbed.provider()
    await testbed.cloud("a", labels={"location": "US"})
    await testbed.cloud("b", schedulable=False)
    await testbed.cloud("c", maxClusters=0, labels={"location": "DE"})
    await testbed.cloud("d", labels={"location": "DE"}, providerRef={"name": "none"})
    await testbed.cluster.advance(3)
    await testbed.make(constraints={"cloud": {"labels": ["location is DE"]}})
    assert (await message(testbed)).splitlines() == [
        "Cloud a does not fulfil `location is DE`",
        "Cloud b is not schedulable",
        "Cloud c has 0 of at most 0 Clusters",
        "Cloud d is not ready (ProviderNotFound)",
    ]


async def test_bad_constraint_names_the_expression_and_the_grammar(testbed: InfraTestbed) -> None:
    await testbed.provider()
    await testbed.cloud()
    await testbed.make(constraints={"cloud": {"labels": ["location isnt DE"]}})
    said = await message(testbed)
    assert "'location isnt DE'" in said
    assert "key not in (a, b)" in said
    assert condition(await testbed.get(), "Scheduled") == ("False", "InvalidConstraint")
    await testbed.edit(constraints={"cloud": {"labels": []}})
    await testbed.state("ONLINE")


async def test_clusters_are_spread_and_limits_are_kept(testbed: InfraTestbed) -> None:
    await testbed.provider()
    await testbed.cloud("a", maxClusters=2)
    await testbed.cloud("b", maxClusters=1)
    await testbed.cluster.advance(3)
    for name in ("one", "two", "three", "four"):
        await testbed.make(name)
        await testbed.cluster.advance(1)
    assert [await where(testbed, name) for name in ("one", "two", "three")] == [
        "Cloud a", "Cloud b", "Cloud a"
    ]  # fmt: skip
    assert "has 2 of at most 2" in await message(testbed, "four")
    await testbed.delete("two")
    await testbed.gone("two")
    assert await where(testbed, "four") == "Cloud b"


async def test_pin_is_followed_and_waited_for(testbed: InfraTestbed) -> None:
    await testbed.provider()
    await testbed.cloud("a")
    await testbed.make(cloudRef={"name": "b"})
    assert "Cloud b" in await message(testbed)
    await testbed.cloud("b")
    await testbed.condition("Scheduled", "True", within=5)
    assert await where(testbed, "one") == "Cloud b"


async def test_pin_opens_no_cloud_that_is_closed_or_full(testbed: InfraTestbed) -> None:
    await testbed.provider()
    await testbed.cloud("shut", schedulable=False)
    await testbed.cloud("full", maxClusters=1)
    await testbed.make("one", cloudRef={"name": "shut"})
    await testbed.make("two", cloudRef={"name": "full"})
    await testbed.state("ONLINE", "two")
    await testbed.make("three", cloudRef={"name": "full"})
    await testbed.cluster.advance(60)
    assert "cloudRef names, is not schedulable" in await message(testbed)
    assert "has 1 of at most 1" in await message(testbed, "three")
    assert testbed.model.creations() == 1
    path = f"/apis/{API_VERSION}/namespaces/default/clouds/shut"
    await testbed.merge(path, {"spec": {"schedulable": True}})
    await testbed.delete("two")
    await testbed.state("ONLINE", "one")
    await testbed.state("ONLINE", "three", within=300)


async def test_labels_of_the_cloud_are_inherited_if_asked_for(testbed: InfraTestbed) -> None:
    await testbed.provider()
    await testbed.cloud(labels={"location": "DE"})
    await testbed.make(inheritLabels=True)
    found = await testbed.state("ONLINE")
    assert found.status is not None
    assert found.status.inherited_labels == {"location": "DE"}
