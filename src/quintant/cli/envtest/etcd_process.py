"""What `etcd` answers: that it is well, and which folder the kube-apiserver keeps objects in.

Nobody else's objects are kept: it speaks no protocol of etcd's beyond health and version.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from functools import partial
from ipaddress import ip_address
from pathlib import Path

import msgspec

from quintant.cli.cluster.signals import stop_event
from quintant.cli.envtest.etcd_flags import RELEASE, EtcdFlags
from quintant.cli.envtest.store_location import LOCATION, StoreLocation
from quintant.core.errors import ConfigError, QuintantError
from quintant.http.request import Request
from quintant.http.response import Response
from quintant.keys.private_files import private_folder
from quintant.runtime.observe.listen import listen
from quintant.version import QUINTANT

_JSON = {"content-type": "application/json"}


class EtcdFailed(QuintantError):
    """Why etcd cannot start, with the flag that it is about."""


async def serve_flags(flags: EtcdFlags) -> None:
    """Answer until a signal comes."""
    stopped = stop_event()
    folder = flags.folder.absolute()
    private_folder(folder)
    async with AsyncExitStack() as stack:
        for address in flags.addresses:
            listening = listen(partial(answer, folder), address)
            try:
                await stack.enter_async_context(listening)
            except ConfigError as error:
                raise EtcdFailed(f"--listen-client-urls: {error}") from None
        await stopped.wait()


async def answer(folder: Path, request: Request) -> Response:
    """Health, version, and to programs of this machine the folder."""
    match request.path:
        case "/health" | "/livez" | "/readyz":
            return _json({"health": "true", "reason": ""})
        case "/version":
            return _json({"etcdserver": RELEASE, "etcdcluster": RELEASE, "quintant": QUINTANT})
        case path if path == LOCATION and _is_local(request):
            return _json(msgspec.to_builtins(StoreLocation(str(folder))))
    return Response(404, _JSON, b"{}")


def _is_local(request: Request) -> bool:
    host, *_ = request.connection.transport.get_extra_info("peername")
    return ip_address(host).is_loopback


def _json(body: object) -> Response:
    return Response(200, _JSON, msgspec.json.encode(body))
