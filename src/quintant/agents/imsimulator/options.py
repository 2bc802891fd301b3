"""What the simulator is told.

quintant agent imsimulator                       on this machine, at port 8800, as IM
quintant agent imsimulator --listen $(POD_IP)    in a pod
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from quintant.agents.embedded_node import pod_path

PORT = 8800
ADDRESS = "QUINTANT_POD_IP"
"""Set on the embedded node: the pod's own address."""
LAUNCH_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class SimulatorOptions:
    """Everything it is told."""

    listen: str = "127.0.0.1"
    """Made clusters listen there too, at ports of their own."""
    port: int = PORT
    folder: Path = Path()
    """For the kubeconfigs of made clusters; they are removed with them."""
    launch_seconds: float = LAUNCH_SECONDS
    """How long a cloud would take: until then no machine is listed."""


def parse(arguments: Sequence[str]) -> SimulatorOptions:
    """The options of a command line; it ends the program if there is something wrong with them."""
    parser = argparse.ArgumentParser(
        prog="quintant agent imsimulator",
        description="A simulator of Infrastructure Manager that makes real small clusters.",
    )
    parser.add_argument("--listen", default=os.environ.get(ADDRESS, "127.0.0.1"), help="an address")
    parser.add_argument("--port", type=int, default=PORT, help="0 is any free one")
    parser.add_argument("--folder", type=pod_path, help="for kubeconfigs, else /tmp")
    parser.add_argument("--launch-seconds", type=float, default=LAUNCH_SECONDS)
    given = parser.parse_args(arguments)
    if given.launch_seconds < 0:
        parser.error("--launch-seconds is at least 0")
    folder = given.folder or pod_path(_temporary_folder())
    return SimulatorOptions(given.listen, given.port, folder, given.launch_seconds)


def _temporary_folder() -> str:
    try:
        return tempfile.gettempdir()
    except FileNotFoundError:
        sys.exit(
            "cannot keep kubeconfigs of made clusters\n"
            "because: there is no folder for temporary files that can be written\n"
            "try: mount a volume at /tmp, or --folder PATH on one"
        )
