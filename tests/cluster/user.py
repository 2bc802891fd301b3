"""Who uses the cluster from outside: kubectl, and programs that call what is exposed."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import patience
from foreign.errors import announce
from quintant.cli.client import open_client
from quintant.client.config.config import Config
from quintant.operators import OPERATORS
from quintant.operators.portal.api import PortalExpose
from quintant.operators.portal.sample import APP, visit
from quintant.operators.portal.sample import NAMESPACE as PORTAL
from quintant.runtime.cache.client import Client
from realcluster.install import (
    CHARTS,
    DEPLOY,
    apply_operator,
    release_operator,
    rolled_out,
    write_overlay,
)
from realcluster.kubectl import Helm, Kubectl, all_of
from realcluster.samples import SAMPLES, Outcome, apply_sample, look_at

WITH_HELM = ("cosmos", "infra", "shifu")
"""The operators that are installed by Helm; klight is taken over by it later."""
SAMPLE_SECONDS = 90.0
VISIT_SECONDS, VISIT_TRIES = 0.1, 5
LOOK_SECONDS = 1.0

T = TypeVar("T")


@dataclass(frozen=True)
class User:
    """One user."""

    kubectl: Kubectl
    helm: Helm
    folder: Path
    """For files of theirs."""

    async def install_all(self) -> None:
        """Install every operator, with what its sample needs, and wait until all run."""
        await all_of(map(self.install, OPERATORS))
        await all_of(rolled_out(self.kubectl, name) for name in OPERATORS)

    async def install(self, operator: str) -> None:
        """Install one operator, with Helm or kubectl."""
        settings = SAMPLES[operator].settings
        if operator in WITH_HELM:
            await release_operator(self.kubectl, self.helm, operator, settings)
            return
        overlay = write_overlay(operator, settings, self.folder)
        await apply_operator(self.kubectl, operator, overlay)

    async def apply_samples(self) -> None:
        """Apply every sample."""
        await all_of(apply_sample(self.kubectl, each) for each in SAMPLES.values())

    async def look(self, operators: Collection[str] = SAMPLES) -> Mapping[str, Outcome]:
        """Look at samples until they are done."""
        within = patience.seconds(SAMPLE_SECONDS)
        async with open_client(Config.load(self.kubectl.kubeconfig), "user") as client:
            looks = (look_at(name, client, announce, within) for name in operators)
            return dict(zip(operators, await all_of(looks), strict=True))

    async def upgrade(self, operator: str, tag: str) -> None:
        """Upgrade an operator to another image, in the way in which it was installed."""
        name, home = OPERATORS[operator].name, f"--namespace={OPERATORS[operator].namespace}"
        if await self.is_released(operator):
            chart, kept = str(CHARTS / "quintant"), "--reset-then-reuse-values"
            words = ("upgrade", operator, chart, home, kept, f"--set=image.tag={tag}")
            await self.helm(*words, "--force-conflicts")
        else:
            image = f"{name}=quintant:{tag}"
            await self.kubectl("set", "image", f"deployment/{name}", image, home)

    async def roll_back(self, operator: str) -> None:
        """Go back to what was there before the last upgrade."""
        name, home = OPERATORS[operator].name, f"--namespace={OPERATORS[operator].namespace}"
        if await self.is_released(operator):
            await self.helm("rollback", operator, home, "--force-conflicts")
        else:
            await self.kubectl("rollout", "undo", f"deployment/{name}", home)

    async def is_released(self, release: str) -> bool:
        """Whether Helm has it, by now."""
        return (
            release in (await self.helm("list", f"--namespace={_home(release)}", "--short")).split()
        )

    async def remove(self, operator: str, part: str) -> None:
        """Delete an operator, or its definitions, in the way in which it was installed."""
        release = operator if part == "operator" else f"{operator}-{part}"
        released = await self.is_released(release)
        if released:
            await self.helm("uninstall", release, f"--namespace={_home(release)}")
        if not released or part != "operator":
            # Definitions outlive their release, so that no object goes by mistake.
            await self._delete(operator, part)

    async def _delete(self, operator: str, part: str) -> None:
        await self.kubectl("delete", f"--kustomize={DEPLOY / operator / part}", "--timeout=120s")

    async def release(self, operator: str) -> None:
        """Take the finalizers of an operator that is gone off its objects."""
        command = ("-m", "quintant", "finalizers", "release", operator, "--yes")
        process = await asyncio.create_subprocess_exec(
            sys.executable, *command, f"--kubeconfig={self.kubectl.kubeconfig}"
        )
        assert await process.wait() == 0

    async def patiently(self, work: Awaitable[T], quiet: float) -> T:
        """Wait for what takes a quiet machine at most so many seconds."""
        async with patience.within(quiet):
            return await work

    async def until(self, holds: Callable[[], Awaitable[bool]]) -> None:
        """Return when something holds; who calls it sets the limit."""
        while True:
            if await holds():
                return
            await asyncio.sleep(LOOK_SECONDS)

    @asynccontextmanager
    async def visiting(self) -> AsyncIterator[list[str]]:
        """Visit the public URL of portal's sample again and again; who was never answered.

        A visitor who is not answered tries again, as browsers do, but not for ever.
        """
        lost: list[str] = []
        async with open_client(Config.load(self.kubectl.kubeconfig), "visitor") as client:
            visits = asyncio.ensure_future(_visit(client, lost))
            try:
                yield lost
            finally:
                visits.cancel()
                with suppress(asyncio.CancelledError):
                    await visits


def _home(release: str) -> str:
    """Where the release of an operator, or of its definitions, is."""
    return OPERATORS[release.removesuffix("-crds")].namespace


async def _visit(client: Client, lost: list[str]) -> None:
    expose = await client.get(PortalExpose, APP, PORTAL, live=True)
    assert expose.status is not None
    again = 0
    try:
        while True:
            answers = [await visit(client, expose.status.public_url)]
            while " 200 " not in answers[-1] and len(answers) < VISIT_TRIES:
                await asyncio.sleep(LOOK_SECONDS)
                answers.append(await visit(client, expose.status.public_url))
            again += len(answers) > 1
            lost += [answers[-1]] if " 200 " not in answers[-1] else []
            await asyncio.sleep(VISIT_SECONDS)
    finally:
        announce(f"{again} visitors had to try again, {len(lost)} in vain: {dict(Counter(lost))}")
