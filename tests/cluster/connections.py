"""Connections that pods try to make, and what becomes of each.

The network refuses aloud what no policy allows (`realcluster.network_policy`): "no route to host".
A port without a listener is something else, "connection refused": that packet has passed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from realcluster.kubectl import Kubectl

PROHIBITED = "EHOSTUNREACH"
PASSED = ("open", "ECONNREFUSED")
_TRY = """\
import errno, json, socket, sys

def attempt(protocol, host, port):
    kind = socket.SOCK_DGRAM if protocol == "UDP" else socket.SOCK_STREAM
    with socket.socket(socket.AF_INET, kind) as made:
        made.settimeout(60)
        try:
            made.connect((host, port))
            if protocol == "UDP":
                made.send(b"?")
                made.recv(1)
        except OSError as error:
            return errno.errorcode.get(error.errno, type(error).__name__)
        return "open"

print(json.dumps([attempt(*each) for each in json.loads(sys.argv[1])]))
"""


class Target(NamedTuple):
    """Where a connection goes."""

    protocol: str
    address: str
    port: int


@dataclass(frozen=True)
class PodUser:
    """Whoever can run a command in a pod."""

    kubectl: Kubectl

    async def connect(self, pod: dict[str, Any], targets: Sequence[Target]) -> list[str]:
        """What becomes of connections from a pod: "open", or the name of the error."""
        meta = pod["metadata"]
        answer = await self.kubectl(
            *("exec", meta["name"], f"--namespace={meta['namespace']}"),
            *("--", "python", "-c", _TRY, json.dumps(targets)),
        )
        found: list[str] = json.loads(answer)
        return found


def port(pod: dict[str, Any], name: str) -> Target:
    """A port of a pod by its name."""
    for container in pod["spec"]["containers"] + pod["spec"].get("initContainers", []):
        for each in container.get("ports", ()):
            if each.get("name") == name:
                return Target("TCP", pod["status"]["podIP"], each["containerPort"])
    raise LookupError(f"{pod['metadata']['name']} has no port {name}")
