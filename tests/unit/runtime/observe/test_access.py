"""Metrics are served to who may get them, as the API server says, and to nobody if it does not."""

from __future__ import annotations

import asyncio

import pytest

from quintant import Manager
from quintant.api.rbac import (
    GROUP,
    ClusterRole,
    ClusterRoleBinding,
    PolicyRule,
    RoleRef,
    Subject,
)
from quintant.client.rest import Rest
from quintant.cluster.apiserver.meta.user import service_account
from quintant.core.object import ObjectMeta
from quintant.runtime.observe.access import (
    ALLOWED_SECONDS,
    LONGEST_TOKEN,
    MOST_QUESTIONS,
    MOST_VERDICTS,
    REFUSED_SECONDS,
    REVIEW_SECONDS,
    EndpointAccess,
)
from quintant.testing import InProcessCluster, path
from quintant.testing.privileges import grant
from scenarios.greeter import Greeter, reconcile

REVIEWS = path("*reviews")
READER = ClusterRole(
    metadata=ObjectMeta(name="reader"),
    rules=(PolicyRule(verbs=("get",), non_resource_urls=("/metrics",)),),
)


class Guarded:
    """A cluster with one who may read metrics, and one who may not."""

    def __init__(self) -> None:
        self.cluster = InProcessCluster(rbac=True)
        for name in ("prometheus", "stranger"):
            self.cluster.server.tokens.add(name, service_account("monitoring", name))

    async def prepare(self) -> None:
        manager = Manager("shop", metrics_auth=True)
        manager.controls(Greeter).reconcile(reconcile)
        account = await grant(self.cluster, manager)
        environment = self.cluster.environment(account.credentials)
        self.access = EndpointAccess(Rest(environment.transport))
        await self.cluster.client.apply(READER)
        subject = Subject(kind="ServiceAccount", name="prometheus", namespace="monitoring")
        ref = RoleRef(api_group=GROUP, kind="ClusterRole", name="reader")
        meta = ObjectMeta(name="reader")
        await self.cluster.client.apply(
            ClusterRoleBinding(metadata=meta, role_ref=ref, subjects=(subject,))
        )

    async def status(self, token: str, at: str = "/metrics") -> int:
        return (await self.access.judge(f"Bearer {token}", at)).status.value

    def asked(self) -> int:
        return len(self.cluster.faults.seen(REVIEWS))


@pytest.fixture
async def guarded() -> Guarded:
    found = Guarded()
    await found.prepare()
    return found


async def test_who_may_get_the_path_is_served_and_others_are_told_why_not(guarded: Guarded) -> None:
    assert await guarded.status("prometheus") == 200
    assert await guarded.status("prometheus", "/debug") == 403
    refused = await guarded.access.judge("bearer  stranger", "/metrics")
    assert refused.status == 403
    assert refused.text == ("user 'system:serviceaccount:monitoring:stranger' may not get /metrics")


@pytest.mark.parametrize(
    "field",
    ["", "Bearer", "Bearer ", "Basic dXNlcjpwYXNz", "prometheus", "Bearer \x00", "Bearer \xe4",
     f"Bearer {'x' * (LONGEST_TOKEN + 1)}"],
)  # fmt: skip
async def test_what_is_no_token_is_refused_without_a_question(guarded: Guarded, field: str) -> None:
    verdict = await guarded.access.judge(field, "/metrics")
    assert verdict.status == 401
    assert verdict.response().headers["www-authenticate"] == "Bearer"
    assert guarded.asked() == 0


async def test_a_token_of_nobody_is_refused(guarded: Guarded) -> None:
    assert await guarded.status("nobody") == 401


async def test_an_answer_is_kept_for_a_while_and_a_right_that_goes_ends_with_it(
    guarded: Guarded,
) -> None:
    assert await guarded.status("prometheus") == 200
    assert await guarded.status("stranger") == 403
    asked = guarded.asked()
    assert await guarded.status("prometheus") == 200
    assert await guarded.status("stranger") == 403
    assert guarded.asked() == asked
    client = guarded.cluster.client
    await client.delete(await client.get(ClusterRoleBinding, "reader", live=True))
    await guarded.cluster.advance(REFUSED_SECONDS + 1)
    await guarded.status("stranger")
    assert guarded.asked() == asked + 2
    await guarded.cluster.advance(ALLOWED_SECONDS)
    assert await guarded.status("prometheus") == 403


async def test_while_the_api_server_is_silent_nothing_is_served_and_nothing_kept(
    guarded: Guarded,
) -> None:
    with guarded.cluster.faults.stall(REVIEWS):
        asking = asyncio.ensure_future(guarded.status("prometheus"))
        await guarded.cluster.advance(REVIEW_SECONDS + 1)
        assert await asking == 503
    with guarded.cluster.faults.answer(500, when=REVIEWS):
        assert await guarded.status("prometheus") == 503
    with guarded.cluster.faults.answer(200, when=REVIEWS):
        assert await guarded.status("prometheus") == 503, "a Status is no TokenReview"
    assert await guarded.status("prometheus") == 200


async def test_a_flood_of_tokens_asks_a_few_at_once_and_one_token_once(guarded: Guarded) -> None:
    with guarded.cluster.faults.stall(REVIEWS):
        asking = [
            asyncio.ensure_future(guarded.status(f"t{number % 500}")) for number in range(5_000)
        ]
        await guarded.cluster.advance(REVIEW_SECONDS + 1)
        statuses = [await each for each in asking]
    assert set(statuses) == {503}
    assert guarded.asked() == MOST_QUESTIONS


async def test_no_more_answers_are_kept_than_there_is_room_for(guarded: Guarded) -> None:
    assert await guarded.status("prometheus") == 200
    for number in range(MOST_VERDICTS):
        await guarded.status(f"t{number}")
    asked = guarded.asked()
    assert await guarded.status("prometheus") == 200
    assert guarded.asked() == asked + 2


async def test_who_goes_away_while_it_is_asked_leaves_the_answer_to_others(
    guarded: Guarded,
) -> None:
    with guarded.cluster.faults.delay(1, REVIEWS):
        first = asyncio.ensure_future(guarded.status("prometheus"))
        second = asyncio.ensure_future(guarded.status("prometheus"))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        first.cancel()
        await guarded.cluster.advance(5)
        assert await second in (200, 503)
    assert await guarded.status("prometheus") == 200
