"""Tokens of service accounts over time, as the server itself believes them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from quintant.cluster.apiserver.authentication.service_accounts import (
    REMEMBERED,
    ServiceAccountTokens,
    TokenRejected,
)
from quintant.cluster.apiserver.meta.user import admin
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.core.clock import LoopClock
from quintant.keys.authority import new_key, private_pem
from unit.cluster.api import Api, JsonObject, server

ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
SELF = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


class World:
    """A server with an administrator and the service account `bot`."""

    def __init__(self, running: ApiServer | None = None) -> None:
        self.server = running or server(rbac=True)
        self.server.tokens.add("root", admin())
        self.root = Api(self.server, "root")

    async def account(self, name: str = "bot", **metadata: Any) -> JsonObject:
        return await self.root.create(ACCOUNTS, {"metadata": {"name": name, **metadata}})

    async def token(self, name: str = "bot", **spec: Any) -> str:
        made = await self.root.create(f"{ACCOUNTS}/{name}/token", {"spec": spec})
        token: str = made["status"]["token"]
        return token

    async def code(self, token: str) -> int:
        return (await Api(self.server, token).send("POST", SELF, {})).status


async def test_a_token_expires_a_minute_after_its_time() -> None:
    world = World()
    await world.account()
    token = await world.token(expirationSeconds=600)
    await asyncio.sleep(659)
    assert await world.code(token) == 201
    await asyncio.sleep(2)
    assert await world.code(token) == 401
    review = {"spec": {"token": token}}
    told = await world.root.create("/apis/authentication.k8s.io/v1/tokenreviews", review)
    assert told["status"]["error"] == ("[invalid bearer token, service account token has expired]")


async def test_a_projected_token_lives_on_after_its_hour() -> None:
    world = World()
    await world.account()
    pods = "/api/v1/namespaces/default/pods"
    spec = {"serviceAccountName": "bot", "containers": [{"name": "c", "image": "i"}]}
    await world.root.create(pods, {"metadata": {"name": "p"}, "spec": spec})
    ref = {"kind": "Pod", "apiVersion": "v1", "name": "p"}
    token = await world.token(boundObjectRef=ref, expirationSeconds=3607)
    await asyncio.sleep(24 * 3600)
    assert await world.code(token) == 201
    await asyncio.sleep(365 * 24 * 3600)
    assert await world.code(token) == 401


async def test_an_account_that_is_being_deleted_keeps_its_tokens_for_a_minute() -> None:
    world = World()
    await world.account(finalizers=["quintant.dev/wait"])
    token = await world.token()
    await world.root.delete(f"{ACCOUNTS}/bot")
    await asyncio.sleep(59)
    assert await world.code(token) == 201
    await asyncio.sleep(3)
    assert await world.code(token) == 401


async def test_an_account_of_the_same_name_is_not_the_same_account() -> None:
    world = World()
    await world.account()
    token = await world.token()
    await world.root.delete(f"{ACCOUNTS}/bot")
    assert await world.code(token) == 401
    await world.account()
    assert await world.code(token) == 401


async def test_tokens_stay_good_where_the_key_and_the_objects_are_kept() -> None:
    key = private_pem(new_key())
    first = World(ApiServer(clock=LoopClock(), rbac=True, key=key))
    await first.account()
    token = await first.token()
    store = first.server.store
    again = World(ApiServer(clock=LoopClock(), rbac=True, key=key, store=store))
    assert await again.code(token) == 201
    other = World(ApiServer(clock=LoopClock(), rbac=True, store=store))
    assert await other.code(token) == 401


async def test_signatures_are_remembered_for_so_many_tokens_only() -> None:
    key = private_pem(new_key())
    world = World(ApiServer(clock=LoopClock(), rbac=True, key=key))
    await world.account()
    token = await world.token()
    accounts = ServiceAccountTokens(world.server.store, LoopClock(), key)
    claims = accounts.claims(token)
    assert claims is not None
    assert accounts.claims(token) is claims
    for _ in range(REMEMBERED):
        assert accounts.claims(accounts.sign(claims)) == claims
    again = accounts.claims(token)
    assert again == claims
    assert again is not claims


async def test_a_token_of_somebody_else_is_rejected_or_not_ours() -> None:
    running = server()
    world = World(running)
    await world.account()
    token = await world.token()
    stranger = ServiceAccountTokens(running.store, LoopClock())
    with pytest.raises(TokenRejected, match="cryptographic primitive"):
        stranger.authenticate(token)
    assert stranger.authenticate("a.b.c") is None
    assert stranger.authenticate("e30.e30.e30") is None


async def test_tokens_are_of_the_issuer_that_the_server_is_called() -> None:
    world = World(
        ApiServer(clock=LoopClock(), rbac=True, issuers=("https://here", "https://there"))
    )
    await world.account()
    own = await world.token()
    claims = world.server._access.accounts.claims(own)
    assert claims is not None
    assert (claims.iss, claims.aud) == ("https://here", ("https://here", "https://there"))
    await Api(world.server, own).create(SELF, {})
    elsewhere = await world.token(audiences=["https://kubernetes.default.svc"])
    await Api(world.server, elsewhere).create(SELF, {}, code=401)
