"""An outside system: every Record is kept at a DNS provider, and nothing is left there.

The provider is behind a Protocol: a test passes its own. A finalizer holds each Record until its
names are gone. A name is written down before it is used: neither a crash nor an old view leaks one.
"""

import asyncio
import os
from typing import Protocol
from urllib import request as http

from quintant import Context, Custom, Manager, Model, resource, when
from quintant.metrics import Gauge


class RecordSpec(Model):
    name: str
    address: str


class RecordStatus(Model):
    names: tuple[str, ...] = ()


@resource(group="demo.dev", version="v1", status=True)
class Record(Custom[RecordSpec, RecordStatus]):
    """A name in the DNS; its status has every name that may exist outside because of it."""


class Zone(Protocol):
    """What is asked of a provider; doing the same twice does no harm."""

    async def put(self, name: str, address: str) -> None: ...
    async def remove(self, name: str) -> None: ...


class HttpZone:
    url = os.environ.get("ZONE_URL", "http://127.0.0.1:8053")

    async def put(self, name: str, address: str) -> None:
        call = http.Request(f"{self.url}/{name}", address.encode(), method="PUT")
        await asyncio.to_thread(http.urlopen, call)

    async def remove(self, name: str) -> None:
        await asyncio.to_thread(http.urlopen, http.Request(f"{self.url}/{name}", method="DELETE"))


def used(status: RecordStatus | None, wanted: str) -> RecordStatus:
    """The status with one more name, the wanted one first."""
    return RecordStatus(names=tuple(dict.fromkeys((wanted, *(status.names if status else ())))))


def records(zone: Zone) -> Manager:
    published = Gauge("dns_records_published", "Published, or not yet.", ["key"])

    async def reconcile(record: Record, ctx: Context[Record]) -> None:
        wanted = record.spec.name
        noted = await ctx.record(lambda status: used(status, wanted))
        await zone.put(wanted, record.spec.address)
        for name in noted.names[1:]:
            await zone.remove(name)
        await ctx.record(lambda status: RecordStatus(names=(wanted,)))
        published.labels(str(record.key)).set(1)

    async def clean(record: Record, ctx: Context[Record]) -> None:
        for name in record.status.names if record.status else ():
            await zone.remove(name)

    manager = Manager("dns")
    manager.add_collectors(published)
    declared = manager.controls(Record, when=when.generation).finalize("demo.dev/dns", clean)
    declared.on_deleted(lambda key: published.remove(str(key))).reconcile(reconcile)
    return manager


manager = records(HttpZone())

if __name__ == "__main__":
    manager.run()
