"""The console in a container, installed by its chart: who is let in, and what they see."""

from __future__ import annotations

import asyncio
import urllib.error
import urllib.request
from typing import NamedTuple

import pytest

from cluster.user import User
from realcluster.install import CHARTS, ROLLOUT_SECONDS, namespace

HOME = "console"
NAME = "quintant-console"
SHOWN = "portal-demo"
"""The namespace of an object that a reader may list."""
READER, STRANGER = "reader", "stranger"
ANSWER_SECONDS = 60.0

pytestmark = pytest.mark.usefixtures("full", "samples")


class PageAnswer(NamedTuple):
    """What a visitor gets."""

    status: int
    text: str


def test_a_user_of_the_cluster_sees_what_they_may_list_and_others_see_nothing(user: User) -> None:
    home = f"--namespace={HOME}"

    async def shown() -> list[PageAnswer]:
        await user.kubectl.apply([namespace(HOME)])
        switch = "--set=console.enabled=true"
        await user.helm("install", "console", str(CHARTS / "quintant"), home, switch)
        for name in (READER, STRANGER):
            await user.kubectl("create", "serviceaccount", name, home)
        role = ("clusterrole", READER, "--verb=get,list", "--resource=portalexposes")
        await user.kubectl("create", *role)
        account = f"--serviceaccount={HOME}:{READER}"
        await user.kubectl(
            "create", "clusterrolebinding", READER, f"--clusterrole={READER}", account
        )
        limit = f"--timeout={ROLLOUT_SECONDS}s"
        await user.kubectl("rollout", "status", f"deployment/{NAME}", home, limit)
        service = await user.kubectl.get("service", NAME, home)
        url = f"http://{service['spec']['clusterIP']}/plain/systems/portal"
        reader, stranger = [
            await user.kubectl("create", "token", each, home) for each in (READER, STRANGER)
        ]

        async def seen() -> bool:
            return SHOWN in (await asyncio.to_thread(visit, url, reader)).text

        await user.patiently(user.until(seen), ANSWER_SECONDS)
        return [await asyncio.to_thread(visit, url, each) for each in (reader, stranger, "none")]

    async def removed() -> None:
        await user.helm("uninstall", "console", home)
        await user.kubectl("delete", "clusterrole,clusterrolebinding", READER)
        await user.kubectl("delete", "namespace", HOME)

    try:
        reader, stranger, nobody = asyncio.run(shown())
    finally:
        asyncio.run(removed())
    assert (reader.status, stranger.status, nobody.status) == (200, 200, 401)
    assert SHOWN in reader.text
    assert SHOWN not in stranger.text


def visit(url: str, token: str) -> PageAnswer:
    """Open a page with a token."""
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token.strip()}"})
    try:
        with urllib.request.urlopen(request, timeout=ANSWER_SECONDS) as answer:
            return PageAnswer(answer.status, answer.read().decode())
    except urllib.error.HTTPError as error:
        return PageAnswer(error.code, error.read().decode(errors="replace"))
