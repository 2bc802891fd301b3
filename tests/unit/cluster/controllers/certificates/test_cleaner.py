"""Requests do not stay for ever."""

from __future__ import annotations

import asyncio

import pytest

from quintant.cluster.controllers import certificates
from unit.cluster.api import Api
from unit.cluster.certificates import certificate_request
from unit.cluster.controllers.running_controllers import controlled, gone

REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
HOUR = 3600.0


async def ask(api: Api) -> None:
    spec = {
        "request": certificate_request("alice"),
        "signerName": "example.com/own",
        "usages": ["client auth"],
    }
    await api.create(REQUESTS, {"metadata": {"name": "a"}, "spec": spec})


@pytest.mark.parametrize("decision", ["Approved", "Denied"])
async def test_a_decided_request_goes_after_an_hour(decision: str) -> None:
    async with controlled(certificates.declare) as api:
        await ask(api)
        condition = {"type": decision, "status": "True"}
        await api.merge(f"{REQUESTS}/a/approval", {"status": {"conditions": [condition]}})
        await asyncio.sleep(HOUR - 60)
        await api.get(f"{REQUESTS}/a")
        await asyncio.sleep(120)
        await gone(api, f"{REQUESTS}/a")


async def test_a_request_that_nobody_decides_goes_after_a_day() -> None:
    async with controlled(certificates.declare) as api:
        await ask(api)
        await asyncio.sleep(23 * HOUR)
        await api.get(f"{REQUESTS}/a")
        await asyncio.sleep(2 * HOUR)
        await gone(api, f"{REQUESTS}/a")
