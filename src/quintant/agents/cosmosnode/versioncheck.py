"""Tells a CosmosFullNode how far its node is, and that it halted for an upgrade.

Before the node starts: the height that is in its data, and whether its image is the version of that
height; a node of another version would damage its data, so the pod is kept from starting it. While
it runs (`-d`): upgrade-info.json as soon as it is there, and the height once the node stands still.
An absent or unreadable database tells nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quintant.agents.apiclient.client import ApiClient
from quintant.agents.apiclient.errors import ApiRefused, ApiUnreachable
from quintant.agents.apiclient.object_path import ObjectPath
from quintant.agents.apiclient.pod_account import PodAccount
from quintant.agents.cosmosnode.heights import data_stamp, stored_height
from quintant.agents.cosmosnode.last_words import NodeToolError
from quintant.agents.cosmosnode.upgrade_info import UpgradeFile, read_upgrade
from quintant.agents.multiplex.program import say

GROUP_VERSION = "cosmos.strange.love/v1"
KIND, PLURAL = "CosmosFullNode", "cosmosfullnodes"
MANAGER = "cosmos-version-check"
FILE_SECONDS = 1.0
"""How often the file of an upgrade is looked for: the whole chain waits."""
DATA_SECONDS = 30.0
"""Longer than any block takes: a node that writes nothing for that long stands still."""
_WHAT = "cannot check the version"

Plain = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class VersionOptions:
    """Which pod, and where its data are."""

    pod: str
    namespace: str
    data: Path
    backend: str = ""
    without_data: bool = False
    """Whether data that are not there are no error."""
    interval: float = DATA_SECONDS
    """Seconds that a database has to be quiet before it is read beside its node."""


class VersionCheck:
    """One pod, as its CosmosFullNode knows it."""

    def __init__(self, options: VersionOptions, client: ApiClient) -> None:
        self._options, self._client = options, client
        self._path: ObjectPath | None = None
        self._reported_upgrade: UpgradeFile | None = None
        self._last_stamp = self._read_stamp = 0

    async def once(self) -> None:
        """Tell what the data say; NodeToolError if the node must not start."""
        pod, node = await self._objects()
        versions = _versions(node)
        if not versions:
            return
        if not (self._options.data.is_dir() or self._options.without_data):
            raise NodeToolError(_WHAT, f"{self._options.data} is no folder")
        await self._tell_upgrade(node)
        latest = stored_height(self._options.data, self._options.backend)
        if latest is None:
            say("height", pod=self._options.pod, height="unknown")
            return
        known = _entry(node, "height", self._options.pod)
        if known != latest + 1:
            await self._patch({"height": {self._options.pod: latest + 1}})
        self._check_image(pod, node, latest + 1)

    async def watch(self, stopped: asyncio.Event) -> None:
        """Tell of an upgrade at once, and of the height of a node that stands still."""
        loop = asyncio.get_running_loop()
        due = loop.time() + self._options.interval
        while not stopped.is_set():
            try:
                await self._look(loop.time() >= due)
            except (ApiRefused, ApiUnreachable, NodeToolError) as error:
                say("retry", why=str(error))
            if loop.time() >= due:
                due = loop.time() + self._options.interval
            await _pause(stopped, min(FILE_SECONDS, self._options.interval))

    async def _look(self, due: bool) -> None:
        upgrade = await asyncio.to_thread(read_upgrade, self._options.data)
        if upgrade is not None and upgrade != self._reported_upgrade:
            await self._patch_upgrade(upgrade)
        if due:
            await self._raise_height()

    async def _raise_height(self) -> None:
        """Tell the height of a node that is quiet, if it means another version."""
        before, self._last_stamp = (
            self._last_stamp,
            await asyncio.to_thread(data_stamp, self._options.data),
        )
        if self._last_stamp != before or self._last_stamp == self._read_stamp:
            return
        data, backend = self._options.data, self._options.backend
        latest = await asyncio.to_thread(stored_height, data, backend)
        if latest is not None:
            _, node = await self._objects()
            known, versions = _entry(node, "height", self._options.pod), _versions(node)
            old, new = (image_of(versions, height) for height in (known, latest + 1))
            if latest + 1 > known and old != new:
                await self._patch({"height": {self._options.pod: latest + 1}})
        self._read_stamp = self._last_stamp

    async def _tell_upgrade(self, node: Plain) -> None:
        """Tell of the file as it is, and take back what a volume before this one said."""
        upgrade = read_upgrade(self._options.data)
        known = node.get("status", {}).get("upgradeInfo", {}).get(self._options.pod)
        if upgrade is not None:
            if known != _upgrade_entry(upgrade):
                await self._patch_upgrade(upgrade)
        elif known is not None:
            await self._patch({"upgradeInfo": {self._options.pod: None}})

    async def _patch_upgrade(self, upgrade: UpgradeFile) -> None:
        await self._patch({"upgradeInfo": {self._options.pod: _upgrade_entry(upgrade)}})
        self._reported_upgrade = upgrade

    async def _patch(self, status: Plain) -> None:
        if self._path is None:
            await self._objects()
        assert self._path is not None, "known once the objects were read"
        await self._client.merge_status(self._path, status, manager=MANAGER)
        say("tell", fullnode=self._path.name, **status)

    def _check_image(self, pod: Plain, node: Plain, height: int) -> None:
        image, fit = _node_image(pod), self._fit_images(node, height)
        if image and fit and image not in fit:
            raise NodeToolError(
                f"version check: block {height} is next, and is not for {image}",
                f"spec.chain.versions has {fit[0]} from there on",
                "wait: the pod is replaced by one of that version",
            )
        say("version", height=height, image=image)

    def _fit_images(self, node: Plain, height: int) -> list[str]:
        """What may run the next block.

        At the very height of a version the one before may have to run it once more: it has not
        written upgrade-info.json, without which the next one does not start.
        """
        own = node.get("spec", {}).get("instanceOverrides", {}).get(self._options.pod, {})
        if own.get("image"):
            return [str(own["image"])]
        versions = _versions(node)
        fit = [image_of(versions, height)]
        halting = any(
            each.get("setHaltHeight") and int(each.get("height", 0)) == height for each in versions
        )
        upgrade = read_upgrade(self._options.data)
        if not halting and (upgrade is None or upgrade.height < height):
            fit.append(image_of(versions, height - 1))
        return [each for each in fit if each]

    async def _objects(self) -> tuple[Plain, Plain]:
        """Our pod, and the CosmosFullNode that it belongs to."""
        pod = await self._get(ObjectPath("v1", "Pod", "pods", *self._names))
        name = owner_name(pod)
        if not name:
            raise NodeToolError(_WHAT, f"pod {self._options.pod} belongs to no {KIND}")
        self._path = ObjectPath(GROUP_VERSION, KIND, PLURAL, name, self._options.namespace)
        return pod, await self._get(self._path)

    async def _get(self, path: ObjectPath) -> Plain:
        found = await self._client.get(path)
        if found is None:
            raise NodeToolError(_WHAT, f"there is no {path}")
        return found

    @property
    def _names(self) -> tuple[str, str]:
        return self._options.pod, self._options.namespace


async def check_once(options: VersionOptions) -> None:
    """Check before the node starts."""
    async with ApiClient(PodAccount.find()) as client:
        await VersionCheck(options, client).once()


async def keep_checking(options: VersionOptions, stopped: asyncio.Event) -> None:
    """Check beside a node until the event is set."""
    async with ApiClient(PodAccount.find()) as client:
        await VersionCheck(options, client).watch(stopped)


def owner_name(pod: Plain) -> str:
    """The CosmosFullNode of a pod, by its owner, or else by its label."""
    metadata = pod.get("metadata", {})
    for owner in metadata.get("ownerReferences", ()):
        if owner.get("kind") == KIND and owner.get("controller"):
            return str(owner.get("name", ""))
    return str(metadata.get("labels", {}).get("app.kubernetes.io/name", ""))


def image_of(versions: Sequence[Plain], height: int) -> str:
    """The image of a height; empty below the first version."""
    found = ""
    for version in versions:
        if int(version.get("height", 0)) > height:
            break
        found = str(version.get("image", ""))
    return found


def _versions(node: Plain) -> Sequence[Plain]:
    found = node.get("spec", {}).get("chain", {}).get("versions")
    return found if isinstance(found, list) else ()


def _entry(node: Plain, field: str, pod: str) -> int:
    return int(node.get("status", {}).get(field, {}).get(pod, 0))


def _upgrade_entry(upgrade: UpgradeFile) -> dict[str, Any]:
    return {"height": upgrade.height, "name": upgrade.name}


def _node_image(pod: Plain) -> str:
    containers = pod.get("spec", {}).get("containers", ())
    named = (str(each.get("image", "")) for each in containers if each.get("name") == "node")
    return next(named, "")


async def _pause(stopped: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await stopped.wait()
    except TimeoutError:
        return
