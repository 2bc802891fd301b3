"""A simulated OPC UA server, with the nodes of upstream's demo server.

ns=2;i=2   a float that grows      ns=2;i=3   a number to write
i=2258     the server's time       i=2261     its product
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from asyncua import Server, ua

from quintant.agents.devices.http_device import MockOptions, parse
from quintant.agents.multiplex.program import run, say

PORT = 4840
PATH = "/freeopcua/server/"
NAMESPACE = "http://examples.freeopcua.github.io"
STEP_SECONDS, STEP = 1.0, 0.1
EVERY_ADDRESS = "0.0.0.0"
logging.getLogger("asyncua").setLevel(logging.CRITICAL)


async def serve(options: MockOptions, stopped: asyncio.Event) -> None:
    """Serve until the event is set."""
    server = Server()
    await server.init()
    server.set_endpoint(f"opc.tcp://{options.listen or EVERY_ADDRESS}:{options.port}{PATH}")
    server.set_server_name("Simulated OPC UA device")
    server.set_security_policy([ua.SecurityPolicyType.NoSecurity])
    space = await server.register_namespace(NAMESPACE)
    parent = await server.nodes.objects.add_object(ua.NodeId(1, space), "MyObject")
    growing = await parent.add_variable(ua.NodeId(2, space), "MyVariable", 6.7)
    written = await parent.add_variable(ua.NodeId(3, space), "MyWritable", -1)
    await written.set_writable()
    async with server:
        say("serve", device=options.name, port=options.port, simulator=True)
        while not stopped.is_set():
            try:
                async with asyncio.timeout(STEP_SECONDS):
                    await stopped.wait()
            except TimeoutError:
                await growing.write_value(float(await growing.read_value()) + STEP)


def main(arguments: Sequence[str]) -> None:
    """Run it."""
    options = parse("opcua", arguments, PORT)
    run(lambda stopped: serve(options, stopped), small=True)
