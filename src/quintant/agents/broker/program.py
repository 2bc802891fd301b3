"""Serves the broker until it is told to end.

quintant agent broker                    on this machine, at port 1883
quintant agent broker --listen $(POD_IP) in a pod
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from quintant.agents.broker.broker import Broker
from quintant.agents.multiplex.program import say

PORT = 1883
ADDRESS = "QUINTANT_POD_IP"
_MORE = f"{os.pathsep}/usr/sbin{os.pathsep}/usr/local/sbin"
_LISTENER = re.compile(r"^\s*listener\s+(\d+)(?:\s+0\.0\.0\.0)?\s*$")


CONFIG = "/mosquitto/config/mosquitto.conf"
"""Where the image of mosquitto has its configuration."""


class BrokerOptions(NamedTuple):
    """Everything it is told."""

    listen: str
    port: int = PORT
    prefer_mosquitto: bool = False
    """Whether the machine's mosquitto runs instead, where there is one."""


def parse(arguments: Sequence[str]) -> BrokerOptions:
    """The options of a command line; it ends the program if there is something wrong with them."""
    parser = argparse.ArgumentParser(
        prog="quintant agent broker", description="A simulator of an MQTT broker (3.1.1)."
    )
    parser.add_argument("--listen", default=os.environ.get(ADDRESS, "127.0.0.1"), help="an address")
    parser.add_argument("--port", type=int, default=PORT, help="0 is any free one")
    parser.add_argument(
        "--prefer-mosquitto", action="store_true", help="run the machine's mosquitto, if any"
    )
    given, _ = parser.parse_known_args(arguments)
    return BrokerOptions(given.listen, given.port, given.prefer_mosquitto)


def become_mosquitto(options: BrokerOptions) -> None:
    """Be the machine's mosquitto from here on; do nothing if it has none."""
    program = shutil.which("mosquitto", path=os.environ.get("PATH", os.defpath) + _MORE)
    if not options.prefer_mosquitto or program is None:
        return
    given = Path(os.environ.get("QUINTANT_ROOT", "") + CONFIG)
    text = given.read_text() if given.is_file() else ""
    with tempfile.NamedTemporaryFile("w", suffix=".conf", delete=False) as file:
        file.write(bound_config(text, options.listen, options.port))
    os.chmod(file.name, 0o644)
    os.execv(program, [program, "-c", file.name])


def bound_config(text: str, address: str, port: int) -> str:
    """A configuration of mosquitto with every listener on one address: the pod's, not all."""
    lines = [_LISTENER.sub(rf"listener \g<1> {address}", line) for line in text.splitlines()]
    if not any(line.startswith("listener ") for line in lines):
        lines += [f"listener {port} {address}", "allow_anonymous true"]
    return "\n".join((*lines, ""))


async def serve(options: BrokerOptions, stopped: asyncio.Event) -> None:
    """Serve until the event is set."""
    broker = Broker()
    server = await asyncio.start_server(broker.serve, options.listen, options.port)
    host, port = server.sockets[0].getsockname()[:2]
    say("serve", url=f"mqtt://{host}:{port}", simulator=True)
    await stopped.wait()
    server.close()
    broker.close()
