"""What pages say about the second day, done on a cluster whose samples are at work."""

from __future__ import annotations

import asyncio
import base64
import json
from datetime import timedelta

import pytest

from cluster.pages import Shell, commands
from cluster.user import User
from foreign.errors import ProgramError, announce
from quintant.core.clock import SystemClock
from quintant.keys.authority import Authority, Validity
from quintant.operators.portal.sample import APP
from quintant.operators.portal.sample import NAMESPACE as DEMO
from realcluster.install import CHARTS, rolled_out

HOME = "portal-system"
PORTAL_OBJECTS = ("portalexposes", "--all-namespaces", "--output=name")

pytestmark = pytest.mark.usefixtures("full", "samples")


async def expect(user: User, operator: str) -> None:
    """A sample is true, or becomes so."""
    outcome = (await user.look((operator,)))[operator]
    assert outcome.done, (outcome.message, outcome.reasons)


def test_objects_come_back_from_a_backup_after_their_definitions_were_deleted(user: User) -> None:
    async def lost_and_restored() -> tuple[str, str]:
        shell = Shell.make(user, "disaster")
        await shell.section("backup.md")
        before = await user.kubectl("get", *PORTAL_OBJECTS)
        definitions = "portalexposes.portal.gosuda.org", "tunnelclasses.portal.gosuda.org"
        await user.kubectl("delete", "crd", *definitions, "--wait=false")
        await shell.section("disaster.md", "Definitions were deleted")
        announce("definitions are back")
        await user.patiently(user.until(lambda: there(user, before)), 60)
        await expect(user, "portal")
        return before, await user.kubectl("get", *PORTAL_OBJECTS)

    before, after = asyncio.run(lost_and_restored())
    assert before
    assert after == before


async def there(user: User, names: str) -> bool:
    return await user.kubectl("get", *PORTAL_OBJECTS) == names


def test_an_expired_certificate_is_replaced(user: User) -> None:
    """By a new one, or by the one that a running replica shows, and writes down again."""
    past = expired()

    async def replaced() -> str:
        shell = Shell.make(user, "certificates")
        await user.kubectl("patch", "secret", "portal-webhook-cert", f"--namespace={HOME}",
                           "--type=merge", f"--patch={json.dumps({'data': past})}")  # fmt: skip
        for text in list(commands("disaster.md", "Certificates have expired"))[:1]:
            await shell.run(text)
        await user.patiently(user.until(lambda: writable(user)), 60)
        return await serial(user)

    assert asyncio.run(replaced()) not in ("", past["tls.crt"])


async def serial(user: User) -> str:
    """The certificate of the webhook."""
    path = "--output=jsonpath={.data.tls\\.crt}"
    return await user.kubectl("get", "secret", "portal-webhook-cert", f"--namespace={HOME}", path)


def expired() -> dict[str, str]:
    """A certificate whose time is over, as the data of a Secret."""
    now = SystemClock().now()
    past = Validity(now - timedelta(days=9), now - timedelta(days=1))
    names = [f"portal-webhook.{HOME}.svc"]
    pair = Authority.make("expired", past).serving(names, past)
    content = {"tls.crt": pair.certificate.reveal(), "tls.key": pair.key.reveal()}
    return {key: base64.b64encode(each).decode() for key, each in content.items()}


async def writable(user: User) -> bool:
    """Whether the webhook is asked, and answers."""
    expose = ("portalexposes", APP, f"--namespace={DEMO}")
    try:
        await user.kubectl("annotate", *expose, "--overwrite", "tried=yes", "--dry-run=server")
    except ProgramError:
        return False
    return True


def test_a_stuck_lease_is_taken_again(user: User) -> None:
    stuck = {"spec": {"holderIdentity": "nobody", "leaseDurationSeconds": 3600}}

    async def freed() -> str:
        shell = Shell.make(user, "lease")
        await user.kubectl("patch", "lease", "portal", f"--namespace={HOME}", "--type=merge",
                           f"--patch={json.dumps(stuck)}")  # fmt: skip
        await shell.section("disaster.md", "A lease is stuck")
        await user.patiently(user.until(lambda: is_held(user)), 60)
        return await holder(user)

    assert asyncio.run(freed()) not in ("", "nobody")


async def is_held(user: User) -> bool:
    return bool(await holder(user))


async def holder(user: User) -> str:
    path = "--output=jsonpath={.spec.holderIdentity}"
    words = ("get", "lease", "portal", f"--namespace={HOME}", "--ignore-not-found", path)
    return await user.kubectl(*words)


def test_helm_refuses_what_kubectl_installed_and_takes_it_over_when_it_is_told_to(
    user: User,
) -> None:
    home, switch = "--namespace=klight-system", "--set=operators.klight.enabled=true"

    async def taken_over() -> tuple[set[str], set[str]]:
        with pytest.raises(ProgramError, match="invalid ownership metadata"):
            await user.helm("install", "klight", str(CHARTS / "quintant"), home, switch)
        before = await pods(user)
        await Shell.make(user, "take-over").section("installing.md", "From kubectl to Helm")
        await rolled_out(user.kubectl, "klight")
        await expect(user, "klight")
        return before, await pods(user)

    before, after = asyncio.run(taken_over())
    assert len(before) == 2
    assert after == before, "none was restarted"


async def pods(user: User) -> set[str]:
    """The pods of klight."""
    return set((await user.kubectl("get", "pods", "-n", "klight-system", "-o", "name")).split())
