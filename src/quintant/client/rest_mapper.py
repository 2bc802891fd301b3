"""RESTMapper: the resource of a kind (plural and scope), as the server itself says.

Asked per group and version, once; a kind that is not there is asked about again after a while, for
it may have been installed since.
"""

from __future__ import annotations

import asyncio
import math

from quintant.client.rest import Rest
from quintant.client.transport import JSON, ApiRequest
from quintant.core import codec
from quintant.core.clock import monotonic
from quintant.core.errors import ConfigError, NotFound
from quintant.core.object import Model
from quintant.core.resource import Resource
from quintant.core.resource_names import check_resource_names

# A kind that is missing is looked for again after so long, whoever asks how often.
AGAIN_SECONDS = 5.0


class _Entry(Model):
    name: str
    kind: str = ""
    namespaced: bool = False


class _Resources(Model):
    resources: tuple[_Entry, ...] = ()


class RestMapper:
    """What one server serves, as far as it was asked for."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Resource] = {}
        self._asked_at: dict[str, float] = {}
        self._asking: dict[str, asyncio.Lock] = {}
        """By group and version: one whose server hangs keeps nobody from the others."""

    async def find(self, rest: Rest, api_version: str, kind: str) -> Resource:
        """The resource of a kind; ConfigError if the server does not serve it."""
        group, _, version = api_version.rpartition("/")
        check_resource_names(
            "dynamic", group=group, version=version, kind=kind, plural="kinds", defined=False
        )
        found = self._known.get((api_version, kind))
        if found is None:
            async with self._asking.setdefault(api_version, asyncio.Lock()):
                if (api_version, kind) not in self._known and self._may_ask(api_version):
                    await self._learn(rest, api_version)
                    self._asked_at[api_version] = monotonic()
            found = self._known.get((api_version, kind))
        if found is None:
            raise ConfigError(
                f"the server serves no {kind} of {api_version}",
                because="its discovery does not name it",
                hint="is its CustomResourceDefinition installed, and is the version served?",
            )
        return found

    def _may_ask(self, api_version: str) -> bool:
        return monotonic() - self._asked_at.get(api_version, -math.inf) >= AGAIN_SECONDS

    async def _learn(self, rest: Rest, api_version: str) -> None:
        group, _, version = api_version.rpartition("/")
        path = f"/apis/{api_version}" if group else f"/api/{version}"
        try:
            reply = await rest.send(ApiRequest("GET", path, {}, {"accept": JSON}))
        except NotFound:
            return
        entries = codec.decode_reply(reply.body, _Resources).resources
        for entry in entries:
            if "/" not in entry.name:
                self._known[api_version, entry.kind] = Resource(
                    group,
                    version,
                    entry.kind,
                    entry.name,
                    namespaced=entry.namespaced,
                )
