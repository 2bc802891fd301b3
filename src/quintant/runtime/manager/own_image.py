"""The image of the pod that this process runs in: what the pods that it makes run, too.

Kustomize's `images:` changes the image of the operator's Deployment, and no variable beside it. So
an operator that is told no image for its children reads that of its own pod: its name is in
POD_NAME, its role allows it to be read, and nothing else is needed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

from quintant.api.core import Pod
from quintant.client.rest import Rest
from quintant.client.transport import Transport
from quintant.core.errors import QuintantError
from quintant.core.object import Request
from quintant.runtime.manager.permissions import Permissions, verb_permissions
from quintant.runtime.observe import logs

log: Final = logs.get_logger()

POD_NAME = "POD_NAME"
"""The variable that names the own pod; without it there is none."""
READ_SECONDS = 20.0
"""For one small object, at the start; the program then goes by the image it was made for."""


def own_pod(namespace: str) -> Permissions:
    """What it takes to read it."""
    return verb_permissions(Pod, "get", namespaces=(namespace,))


async def read_own_image(
    transport: Transport, namespace: str, container: str, environ: Mapping[str, str]
) -> str:
    """The image of a container of the own pod; empty, with a warning, if it cannot be read."""
    name = environ.get(POD_NAME, "")
    if not name:
        return ""
    try:
        async with asyncio.timeout(READ_SECONDS):
            pod = await Rest(transport).get(Pod, Request(name, namespace))
    except (QuintantError, TimeoutError) as error:
        log.warning("could not read the own pod's image", pod=name, why=str(error))
        return ""
    return next((each.image for each in pod.spec.containers if each.name == container), "")
