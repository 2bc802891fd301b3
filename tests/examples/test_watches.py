"""The example of watches does what it says: a ConfigMap wakes those that name it, and no other."""

from __future__ import annotations

from typing import Any

from examples_support import load_example
from quintant import ObjectMeta
from quintant.api.core import ConfigMap
from quintant.testing import InProcessCluster, named, reconcile_once
from quintant.testing.faults.match import kind, writes

example = load_example("02_watches")


def banner(name: str = "b", source: str = "news") -> Any:
    return example.Banner(metadata=named(name), spec=example.BannerSpec(source=source))


def news(text: str, name: str = "news") -> ConfigMap:
    return ConfigMap(metadata=named(name), data={"text": text})


def shows(text: str) -> Any:
    return lambda found: found.status is not None and found.status.text == text


async def test_a_banner_shows_the_text_of_its_source(cluster: InProcessCluster) -> None:
    await cluster.run(example.manager)
    await cluster.create(banner())
    await cluster.create(news("hello"))
    await cluster.eventually(example.Banner, "b", until=shows("hello"))

    await cluster.client.apply(news("goodbye"))
    await cluster.eventually(example.Banner, "b", until=shows("goodbye"))


async def test_a_banner_whose_source_is_gone_shows_nothing(cluster: InProcessCluster) -> None:
    await cluster.run(example.manager)
    source = await cluster.create(news("hello"))
    await cluster.create(banner())
    await cluster.eventually(example.Banner, "b", until=shows("hello"))

    await cluster.client.delete(source)
    await cluster.eventually(example.Banner, "b", until=shows(""))


async def test_a_change_of_another_source_writes_nothing(cluster: InProcessCluster) -> None:
    await cluster.run(example.manager)
    await cluster.create(news("hello"))
    await cluster.create(banner("one"))
    await cluster.create(banner("two", source="other"))
    await cluster.eventually(example.Banner, "one", until=shows("hello"))
    before = len(cluster.faults.seen(writes))

    await cluster.create(news("new", name="other"))
    await cluster.eventually(example.Banner, "two", until=shows("new"))
    written = cluster.faults.seen(writes & kind(example.Banner))
    assert len(written) == before + 1
    assert "/two/" in written[-1].call.path


def test_a_namesake_in_another_namespace_is_not_read() -> None:
    elsewhere = ConfigMap(metadata=ObjectMeta(name="news", namespace="kube-system"), data={})
    outcome = reconcile_once(example.manager, banner(), world=[elsewhere])
    assert [write.body["status"] for write in outcome.writes] == [{"text": ""}]
