"""The example of several clusters: banners of one name in two clusters are two."""

from __future__ import annotations

import base64

from examples_support import load_example
from quintant import ObjectMeta
from quintant.api.core import ConfigMap, Namespace, Secret
from quintant.testing import InProcessCluster, named

example = load_example("10_several_clusters")


async def test_banners_are_shown_in_each_cluster_and_counted_at_home(
    cluster: InProcessCluster,
) -> None:
    west = InProcessCluster(seed=1)
    kubeconfig = base64.b64encode(cluster.beside("west", west).encode()).decode()
    await west.create(example.Banner(metadata=named("a"), spec=example.BannerSpec(text="there")))
    await cluster.create(example.Banner(metadata=named("a"), spec=example.BannerSpec(text="here")))
    await cluster.create(example.Fleet(metadata=named("all"), spec=example.FleetSpec(every=10)))
    await cluster.client.create(Namespace(metadata=ObjectMeta(name="fleet")))
    await cluster.run(example.manager, started=False)
    meta = ObjectMeta(name="west", namespace="fleet", labels={"example.dev/cluster": "true"})
    secret = await cluster.create(Secret(metadata=meta, data={"kubeconfig": kubeconfig}))
    await west.eventually(ConfigMap, "a", until=lambda child: child.data["text"] == "there")
    await cluster.eventually(ConfigMap, "a", until=lambda child: child.data["text"] == "here")
    both = example.FleetStatus(banners=2, clusters=("fleet.west", "home"))
    await cluster.eventually(example.Fleet, "all", until=lambda fleet: fleet.status == both)

    await cluster.client.delete(secret)
    one = example.FleetStatus(banners=1, clusters=("home",))
    await cluster.eventually(example.Fleet, "all", until=lambda fleet: fleet.status == one)
    assert (await west.get(ConfigMap, "a")).data == {"text": "there"}
