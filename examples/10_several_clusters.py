"""One operator for many clusters: its home, those it names, and those that Secrets bring.

Every Banner gets a ConfigMap beside it, in the cluster in which it is. A Secret with the label
`example.dev/cluster=true` and a kubeconfig brings a cluster, and takes it away again; what is there
stays as it is. `ctx.request.cluster` says where a key is, and what is remembered of it is kept by
that request: a banner of the same name in another cluster is another one. At home a Fleet counts
the banners of all clusters.
"""

from quintant import (
    Context,
    Custom,
    KeyedState,
    Manager,
    Model,
    ObjectMeta,
    Result,
    SecretClusters,
    owned,
    resource,
)
from quintant.api.core import ConfigMap


class BannerSpec(Model):
    text: str


class FleetSpec(Model):
    every: float


class FleetStatus(Model):
    banners: int = 0
    clusters: tuple[str, ...] = ()


@resource(group="example.dev", version="v1")
class Banner(Custom[BannerSpec, None]):
    """A text to show."""


@resource(group="example.dev", version="v1", status=True)
class Fleet(Custom[FleetSpec, FleetStatus]):
    """How many banners there are, in which clusters."""


texts = KeyedState(str)


async def show(banner: Banner, ctx: Context[Banner]) -> None:
    texts[ctx.request] = banner.spec.text
    child = ConfigMap(metadata=ObjectMeta.like(banner), data={"text": banner.spec.text})
    await ctx.apply(owned(child, by=banner))


async def count(fleet: Fleet, ctx: Context[Fleet]) -> Result:
    clusters = sorted({request.cluster or "home" for request in texts})
    await ctx.set_status(FleetStatus(banners=len(texts), clusters=tuple(clusters)))
    return Result(after=fleet.spec.every)


manager = Manager("banners", leader_elect=True)
manager.clusters(SecretClusters("example.dev/cluster=true", namespaces=["fleet"]))
manager.controls(Banner).owns(ConfigMap).keeps(texts).reconcile(show)
manager.controls(Fleet).clusters(others=False).reconcile(count)

if __name__ == "__main__":
    manager.run()
