"""Serves the broker until it is asked to end.

quintant agent broker                    on this machine, at port 1883
quintant agent broker --listen $(POD_IP) in a pod
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from typing import NamedTuple

from quintant.agents.broker.broker import Broker
from quintant.agents.broker.mosquitto import bound_config
from quintant.agents.embedded_node import ROOT_VARIABLE, pod_path
from quintant.agents.multiplex.program import say

PORT = 1883
ADDRESS = "QUINTANT_POD_IP"
_MORE = f"{os.pathsep}/usr/sbin{os.pathsep}/usr/local/sbin"
CONFIG = "/mosquitto/config/mosquitto.conf"
"""Where the image of mosquitto has its configuration."""
CONFIG_BYTES = 1024 * 1024
"""A whole ConfigMap has no more."""


class BrokerOptions(NamedTuple):
    """Its settings."""

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
    if given.prefer_mosquitto and not _is_address(given.listen):
        parser.error("--listen is an address, such as 127.0.0.1")
    return BrokerOptions(given.listen, given.port, given.prefer_mosquitto)


def _is_address(text: str) -> bool:
    try:
        return bool(ip_address(text))
    except ValueError:
        return False


def become_mosquitto(options: BrokerOptions) -> None:
    """Be the machine's mosquitto from here on; do nothing if it has none."""
    program = shutil.which("mosquitto", path=os.environ.get("PATH", os.defpath) + _MORE)
    if not options.prefer_mosquitto or program is None:
        return
    config = bound_config(_mounted_config(os.environ), options.listen, options.port)
    if config.left_out:
        say("leave out", directives=",".join(config.left_out))
    with tempfile.NamedTemporaryFile("w", suffix=".conf", delete=False) as file:
        file.write(config.text)
    os.chmod(file.name, 0o644)
    os.execv(program, [program, "-c", file.name])


def _mounted_config(environ: Mapping[str, str]) -> str:
    """The configuration that the pod mounts, if it mounts one."""
    path = pod_path(f"{environ.get(ROOT_VARIABLE, '')}{CONFIG}", environ)
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return file.read(CONFIG_BYTES).decode("utf-8", "replace")


async def serve(options: BrokerOptions, stopped: asyncio.Event) -> None:
    """Serve until the event is set."""
    broker = Broker()
    server = await asyncio.start_server(broker.serve, options.listen, options.port)
    host, port = server.sockets[0].getsockname()[:2]
    say("serve", url=f"mqtt://{host}:{port}", simulator=True)
    await stopped.wait()
    server.close()
    broker.close()
