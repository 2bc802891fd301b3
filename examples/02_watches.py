"""A second kind: a Banner shows the text of a ConfigMap that people edit themselves.

An index files each Banner under the ConfigMap it names, and a change of that ConfigMap wakes
exactly those. Nothing is polled, and nothing is searched.
"""

from quintant import Context, Custom, Manager, Model, by_index, resource, when
from quintant.api.core import ConfigMap


class BannerSpec(Model):
    source: str


class BannerStatus(Model):
    text: str | None = None


@resource(
    group="demo.dev",
    version="v1",
    status=True,
    columns={"Source": ".spec.source", "Text": ".status.text"},
)
class Banner(Custom[BannerSpec, BannerStatus]):
    """Shows what is written under "text" in a ConfigMap of its namespace."""


def sources(banner: Banner) -> list[str]:
    """What the index files a Banner under: namespace and name, as `by_index` looks it up."""
    return [f"{banner.metadata.namespace}/{banner.spec.source}"]


async def reconcile(banner: Banner, ctx: Context[Banner]) -> None:
    found = await ctx.client.find(ConfigMap, banner.spec.source, banner.metadata.namespace)
    await ctx.set_status(BannerStatus(text=found.data.get("text", "") if found else ""))


manager = Manager("banner")
(
    manager.controls(Banner, when=when.generation)
    .index("source", sources)
    .watches(ConfigMap, to=by_index("source"))
    .reconcile(reconcile)
)

if __name__ == "__main__":
    manager.run()
