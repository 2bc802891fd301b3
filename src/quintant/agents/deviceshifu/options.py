"""What a deviceShifu is told: which device, where its ConfigMap is, and where to listen.

quintant agent deviceshifu                               in a pod, by its variables
quintant agent deviceshifu --device FILE --config DIR    on a bench, without a cluster
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from quintant.agents.deviceshifu.exclusive import RELEASE_SECONDS
from quintant.agents.embedded_node import pod_path
from quintant.wire.shifu import EXCLUSIVE_RELEASE, SECRET_FOR, SPECIAL_ADDRESSES

PORT = 8080
FOLDER = "/etc/edgedevice"
"""Where upstream's manifests mount `config`, `certificate` and `secret`."""
ROOT = "QUINTANT_ROOT"
"""Set on the embedded node: the folder in which the pod's volumes appear."""
POD_IP = "QUINTANT_POD_IP"
"""Set on the embedded node: the pod's own address. In a container every address is the pod's."""


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """Everything it is told."""

    name: str
    namespace: str = "devices"
    node: str = ""
    listen: str = ""
    """The address to listen on; empty is every one."""
    port: int = PORT
    folder: Path = Path(FOLDER)
    """What is mounted: `config`, `certificate`, `secret`."""
    config: Path = Path(FOLDER) / "config"
    device: Path | None = None
    """An EdgeDevice in a file, in place of one at the API server."""
    secret_for: str = ""
    """The one device and host that the mounted Secret is for; empty where a user mounted it."""
    release: float = RELEASE_SECONDS
    """Seconds after which an exclusive device is let go when the API server is out of reach."""
    special_addresses: bool = False
    """Whether the device may be where clouds answer their own machines, at link-local addresses."""
    pod_ip: str = ""
    """What `localhost` in an address means; empty where the pod has one of its own."""


def parse(arguments: Sequence[str], environ: Mapping[str, str] = os.environ) -> AgentOptions:
    """The options of a command line and an environment; ends the program if they are wrong."""
    parser = argparse.ArgumentParser(prog="quintant agent deviceshifu", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    folder = f"{environ.get(ROOT, '')}{FOLDER}"
    parser.add_argument(
        "--device", type=pod_path, help="a file with an EdgeDevice: no cluster is used"
    )
    parser.add_argument(
        "--config", type=pod_path, default=f"{folder}/config", help="its instructions"
    )
    parser.add_argument("--listen", default=environ.get(POD_IP, ""), help="an address")
    parser.add_argument("--port", type=int, default=PORT, help="0 is any free one")
    given = parser.parse_args(arguments)
    name = environ.get("EDGEDEVICE_NAME", "")
    if not name and given.device is None:
        parser.error("EDGEDEVICE_NAME is missing: which device is it, or give --device FILE")
    return AgentOptions(
        name=name or given.device.stem,
        namespace=environ.get("EDGEDEVICE_NAMESPACE") or "devices",
        node=environ.get("NODE_NAME", ""),
        listen=given.listen,
        port=given.port,
        folder=pod_path(folder, environ),
        config=given.config,
        device=given.device,
        secret_for=environ.get(SECRET_FOR, ""),
        release=_release(environ.get(EXCLUSIVE_RELEASE, ""), parser),
        special_addresses=environ.get(SPECIAL_ADDRESSES, "") == "true",
        pod_ip=environ.get(POD_IP, ""),
    )


def _release(text: str, parser: argparse.ArgumentParser) -> float:
    try:
        seconds = float(text) if text else RELEASE_SECONDS
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 86_400:
        parser.error(f"{EXCLUSIVE_RELEASE} is a number of seconds, such as 45")
    return seconds
