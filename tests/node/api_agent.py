"""A program in a pod that follows a device and tells its status.

Run by the image table of the tests.
"""

from __future__ import annotations

import asyncio
import sys

from quintant.agents.apiclient.client import ApiClient
from quintant.agents.apiclient.object_path import ObjectPath
from quintant.agents.apiclient.pod_account import PodAccount


async def main(name: str) -> None:
    """Answer every generation of the device with a status."""
    account = PodAccount.find()
    path = ObjectPath("demo.dev/v1", "Device", "devices", name, account.namespace)
    async with ApiClient(account) as client:
        async for device in client.watch(path):
            if device is not None:
                seen = {"seen": device["metadata"]["generation"]}
                await client.apply_status(path, seen, manager="agent")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
