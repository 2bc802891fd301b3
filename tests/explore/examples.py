"""Every numbered example but the first (greeter.py), explored: create, change, and delete."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from examples_support import load_example
from quintant import Manager, Metadata, by_index, replace, when
from quintant.api.core import ConfigMap, Container, Namespace, Pod, PodSpec
from quintant.testing import OtherCluster, RemoteModel, Scenario, ScenarioWorld, effect, named

watches, finalizer = load_example("02_watches"), load_example("03_finalizer")
status, children = load_example("04_status"), load_example("05_children")
webhooks, census = load_example("06_webhooks"), load_example("07_census")
alarms, shards = load_example("08_testing"), load_example("09_shards")
clusters = load_example("10_several_clusters")


class BannerLife(Scenario):
    """A banner whose source comes, changes and goes."""

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        manager, of = Manager("banner"), by_index("source")
        builder = manager.controls(watches.Banner, when=when.generation)
        builder.index("source", watches.sources).watches(ConfigMap, to=of)
        builder.reconcile(watches.reconcile)
        return [manager]

    async def script(self, world: ScenarioWorld) -> None:
        spec = watches.BannerSpec(source="words")
        await world.create(watches.Banner(metadata=named("b"), spec=spec))
        await world.quiet()
        await world.create(ConfigMap(metadata=named("words"), data={"text": "hi"}))
        await world.quiet()
        await world.edit(ConfigMap, "words", lambda it: replace(it, data={"text": "ho"}))
        await world.quiet()
        await world.delete(ConfigMap, "words")
        await world.quiet()

    def settled(self, world: ScenarioWorld) -> None:
        (banner,) = world.all(watches.Banner)
        assert banner.status.text == ""


class Zone(RemoteModel):
    """A DNS provider."""

    @effect
    async def put(self, name: str, address: str) -> None:
        if ("record", name) not in self.ledger:
            self.ledger.add("record", name)

    @effect
    async def remove(self, name: str) -> None:
        if ("record", name) in self.ledger:
            self.ledger.remove("record", name)


class RecordLife(Scenario):
    """A record that is renamed, and deleted."""

    def remotes(self) -> Mapping[str, RemoteModel]:
        return {"zone": Zone()}

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        return [finalizer.records(world.remotes["zone"])]

    async def script(self, world: ScenarioWorld) -> None:
        spec = finalizer.RecordSpec(name="www", address="127.0.0.9")
        await world.create(finalizer.Record(metadata=named("r"), spec=spec))
        await world.quiet()
        other = finalizer.RecordSpec(name="web", address="127.0.0.9")
        await world.edit(finalizer.Record, "r", lambda it: replace(it, spec=other))
        await world.quiet()
        await world.delete(finalizer.Record, "r")
        await world.quiet()

    def always(self, world: ScenarioWorld) -> None:
        """Whatever is outside is written down."""
        known = {name for each in world.all(finalizer.Record) if each.status
                 for name in each.status.names}  # fmt: skip
        for _, name in world.remotes["zone"].ledger.live:
            assert name in known, f"{name} is forgotten"

    def settled(self, world: ScenarioWorld) -> None:
        assert not world.remotes["zone"].ledger.live


class ProbeLife(Scenario):
    """A probe of a port that answers, then of one that does not, then of none that may be."""

    calm = 2.0

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        async def dial(host: str, port: int) -> str:
            return "" if port == 80 else "no answer"

        return [status.probes(dial)]

    async def script(self, world: ScenarioWorld) -> None:
        for host, port in (("a.test", 80), ("a.test", 81), ("localhost", 80)):
            spec = status.ProbeSpec(host=host, port=port)
            if world.one(status.Probe, "p") is None:
                await world.create(status.Probe(metadata=named("p"), spec=spec))
            else:
                await world.edit(status.Probe, "p", partial(replace, spec=spec))
            await world.quiet()


class FleetLife(Scenario):
    """A fleet that grows, shrinks, and goes."""

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        manager = Manager("fleet")
        manager.controls(children.Fleet).owns(ConfigMap).reconcile(children.reconcile)
        return [manager]

    async def script(self, world: ScenarioWorld) -> None:
        spec = children.FleetSpec(ships=2)
        await world.create(children.Fleet(metadata=named("f"), spec=spec))
        await world.quiet()
        for ships in (3, 1):
            new = children.FleetSpec(ships=ships, motto="on")
            await world.edit(children.Fleet, "f", partial(replace, spec=new))
            await world.quiet()
        await world.delete(children.Fleet, "f")
        await world.quiet()


class TopicLife(Scenario):
    """A topic that is judged, and grows."""

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        manager = Manager("topics")
        manager.controls(webhooks.Topic).reconcile(webhooks.reconcile)
        manager.webhooks.mutating(webhooks.Topic, webhooks.sign, operations=("CREATE",))
        manager.webhooks.validating(webhooks.Topic, webhooks.check)
        return [manager]

    async def script(self, world: ScenarioWorld) -> None:
        spec = webhooks.TopicSpec(partitions=1)
        await world.create(webhooks.Topic(metadata=named("t"), spec=spec))
        await world.quiet()
        more = webhooks.TopicSpec(partitions=2)
        await world.edit(webhooks.Topic, "t", lambda it: replace(it, spec=more))
        await world.quiet()
        await world.delete(webhooks.Topic, "t")
        await world.quiet()


class CensusLife(Scenario):
    """Pods come and go, and are counted."""

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        manager = Manager("census", leader_elect=True)
        builder = manager.keyed("census").watches(census.Counted, to=census.whole)
        builder.watches(Metadata[Namespace], to=census.whole)
        builder.watches(ConfigMap, to=census.whole, fields={"metadata.name": "census"})
        builder.uses(ConfigMap, "create", "patch")
        builder.reconcile(census.reconcile)
        return [manager]

    async def script(self, world: ScenarioWorld) -> None:
        spec = PodSpec(containers=(Container(name="c", image="i"),))
        for name in ("a", "b"):
            await world.create(Pod(metadata=named(name), spec=spec))
            await world.quiet()
        await world.delete(Pod, "a")
        await world.quiet()


class AlarmLife(Scenario):
    """An alarm that rings."""

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        manager = Manager("alarm")
        manager.controls(alarms.Alarm).reconcile(alarms.reconcile)
        return [manager]

    async def script(self, world: ScenarioWorld) -> None:
        await world.create(alarms.alarm(30))
        await world.quiet()

    def settled(self, world: ScenarioWorld) -> None:
        (alarm,) = world.all(alarms.Alarm)
        assert alarm.status is not None
        assert alarm.status.rang


class OrderLife(Scenario):
    """An order that grows, and is deleted; one replica does what each of several would do."""

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        manager = Manager("orders")
        manager.controls(shards.Order).owns(ConfigMap).reconcile(shards.reconcile)
        return [manager]

    async def script(self, world: ScenarioWorld) -> None:
        await world.create(shards.Order(metadata=named("o"), spec=shards.OrderSpec(amounts=[1, 2])))
        await world.quiet()
        more = shards.OrderSpec(amounts=[1, 2, 3])
        await world.edit(shards.Order, "o", lambda it: replace(it, spec=more))
        await world.quiet()
        await world.delete(shards.Order, "o")
        await world.quiet()


class BannersOfTwoClusters(Scenario):
    """A banner at home and one of its name in another cluster, counted at home."""

    def remotes(self) -> dict[str, OtherCluster]:
        return {"west": OtherCluster(clusters.Banner, ConfigMap)}

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        manager, texts = Manager("banners"), clusters.texts
        # What is remembered ends with its process.
        for request in list(texts):
            texts.forget(request)
        manager.cluster("west", world.remotes["west"].config(world.cluster))
        manager.controls(clusters.Banner).owns(ConfigMap).keeps(texts).reconcile(clusters.show)
        return [manager]

    async def script(self, world: ScenarioWorld) -> None:
        west: OtherCluster = world.remotes["west"]
        await west.cluster.create(_banner("there"))
        await world.create(_banner("here"))
        await world.advance(10)
        await world.quiet()
        await world.delete(clusters.Banner, "a")
        await world.advance(60)
        await world.quiet()

    def settled(self, world: ScenarioWorld) -> None:
        west = [child.data["text"] for child in world.remotes["west"].all(ConfigMap)]
        home = [child.data["text"] for child in world.all(ConfigMap)]
        assert (west, home) in ((["there"], ["here"]), (["there"], []))


def _banner(text: str) -> Any:
    return clusters.Banner(metadata=named("a"), spec=clusters.BannerSpec(text=text))
