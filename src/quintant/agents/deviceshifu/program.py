"""Serves a device until it is told to end."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from datetime import UTC, datetime

from quintant.agents.apiclient.client import ApiClient
from quintant.agents.apiclient.pod_account import PodAccount
from quintant.agents.deviceshifu.device_api import ClusterApi, DeviceApi, FileApi
from quintant.agents.deviceshifu.drivers.address import (
    DeviceDialer,
    any_address,
    special_device_kind,
)
from quintant.agents.deviceshifu.facade import Facade
from quintant.agents.deviceshifu.options import AgentOptions
from quintant.agents.deviceshifu.shifu import DeviceShifu
from quintant.agents.dns.host_resolver import HostResolver
from quintant.agents.multiplex.program import say
from quintant.http.request import RequestLimits
from quintant.http.server import serving

GOODBYE_SECONDS = 2.0
LIMITS = RequestLimits()


async def serve(options: AgentOptions, stopped: asyncio.Event) -> None:
    """Serve until the event is set."""
    async with AsyncExitStack() as stack:
        api = await _api(options, stack)
        refused = any_address if options.special_addresses else special_device_kind
        dialer = DeviceDialer(HostResolver({}), options.pod_ip, refused)
        shifu = DeviceShifu(options, api, dialer, lambda: datetime.now(UTC))
        facade = Facade(shifu)
        async with serving(
            facade.handle, options.listen, options.port, limits=LIMITS, goodbye=GOODBYE_SECONDS
        ) as (host, port):
            say("serve", device=options.name, url=f"http://{host}:{port}")
            work = asyncio.ensure_future(shifu.run())
            ending = asyncio.ensure_future(stopped.wait())
            await asyncio.wait((work, ending), return_when=asyncio.FIRST_COMPLETED)
            ending.cancel()
            if work.done():
                work.result()
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)


async def _api(options: AgentOptions, stack: AsyncExitStack) -> DeviceApi:
    if options.device is not None:
        return FileApi(options.device)
    client = await stack.enter_async_context(ApiClient(PodAccount.find()))
    return ClusterApi(client, options.name, options.namespace)
