"""A small OpenStack on loopback: what IM's connector calls of Keystone, Nova, Neutron and Glance.

It is our reading of OpenStack, and not OpenStack. What is not asked for by that connector is not
there. A server whose name begins with `front` is a cluster of its own (`testbeds.machines`); it and
every other server of its security group are nodes of that cluster, by their names here.

    async with OpenStack.serve(tmp_path, password="secret") as cloud:
        cloud.seed.parts          # the kubeconfig of every front machine, around its address
        cloud.faults.launch = 2   # seconds
        cloud.servers             # what somebody pays for
        cloud.groups              # security groups
        cloud.record("ost")       # how IM is told of it
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any, Self

from aiohttp import web

from quintant.core.errors import QuintantError
from testbeds import openstack_answers as answers
from testbeds.machines import Machine, Seed, claim_network, make_seed

Plain = dict[str, Any]
# The seed has the first address of a network, front machines and workers those from here on.
FIRST = 10
FRONT = "front"


@dataclass
class CloudFaults:
    """What the cloud does badly; seconds, and how much."""

    slow: float = 0.0
    """Before flavors are told: IM has not asked for a machine yet, and lists none."""
    launch: float = 0.0
    """Before a server is told to be there."""
    quota: int = 0
    """The most servers; none is no limit."""
    without_image: bool = False


@dataclass(frozen=True)
class Login:
    """A login as it arrived; never the password."""

    user: str
    user_domain: Plain
    project: str
    project_domain: Plain
    accepted: bool


class OpenStack:
    """Servers, security groups, and who logged in."""

    def __init__(self, folder: Path, password: str, seed: Seed, network: IPv4Network) -> None:
        self.folder, self.password, self.seed, self.network = folder, password, seed, network
        self.url = ""
        self.faults = CloudFaults()
        self.servers: dict[str, Plain] = {}
        self.groups: dict[str, Plain] = {}
        self.machines: dict[str, Machine] = {}
        self.logins: list[Login] = []
        self.calls: list[str] = []
        """Method, path and status of each call but logins."""
        self._made = 0
        self._group_of: dict[str, str] = {}
        self._joins: dict[str, asyncio.Task[None]] = {}

    @classmethod
    @asynccontextmanager
    async def serve(cls, folder: Path, *, password: str) -> AsyncIterator[Self]:
        """A cloud without servers, as long as the context; its machines end with it."""
        with claim_network() as network:
            seed = await make_seed(folder / "seed", network)
            cloud = cls(folder, password, seed, network)
            runner = web.AppRunner(cloud._application(), access_log=None)
            await runner.setup()
            try:
                site = web.TCPSite(runner, "127.0.0.1", 0)
                await site.start()
                host, port = runner.addresses[0][:2]
                cloud.url = f"http://{host}:{port}"
                yield cloud
            finally:
                await runner.cleanup()
                for server in list(cloud.servers):
                    await cloud.vanish(server)

    def record(self, name: str, **other: str) -> dict[str, str]:
        """The record of IM's authorization header for this cloud, with some fields replaced."""
        return {
            "id": name,
            "type": "OpenStack",
            "host": self.url,
            "username": "user",
            "password": self.password,
            "tenant": "project",
            "auth_version": "3.x_password",
            "domain": "Default",
            "tenant_domain_id": "default",
            "service_region": "RegionOne",
            **other,
        }

    def set_status(self, server: str, status: str) -> None:
        """Let a server be ACTIVE, SHUTOFF or ERROR."""
        self.servers[server]["status"] = status

    async def vanish(self, server: str) -> None:
        """Take a server away behind everybody's back."""
        name = self.servers.pop(server)["name"]
        machine, front = self.machines.pop(server, None), self._front(server)
        if join := self._joins.pop(server, None):
            join.cancel()
            await asyncio.wait([join])
            joined = not join.cancelled() and join.exception() is None
            if front is not None and joined:
                # It may be about to end itself.
                with suppress(QuintantError):
                    await front.leave(name)
        if machine is not None:
            await machine.stop()

    def _front(self, server: str) -> Machine | None:
        """The cluster that a server belongs to, as long as that is there."""
        group = self._group_of.get(server)
        fronts = (each for name, each in self.machines.items() if self._group_of[name] == group)
        return next(fronts, None)

    async def _join(self, server: str) -> None:
        front = self._front(server)
        if front is not None:
            await front.join(self.servers[server]["name"])

    def _application(self) -> web.Application:
        app = web.Application(middlewares=[self._note])
        app.add_routes(
            [
                web.post("/v3/auth/tokens", self._login),
                web.get("/compute/v2.1/flavors/detail", self._flavors),
                web.get("/compute/v2.1/flavors/{id}", _always({"flavor": answers.FLAVOR})),
                web.get("/compute/v2.1/flavors/{id}/os-extra_specs", _always({"extra_specs": {}})),
                web.get("/compute/v2.1/os-keypairs", _always({"keypairs": []})),
                web.get("/compute/v2.1/servers/detail", self._list),
                web.post("/compute/v2.1/servers", self._create),
                web.get("/compute/v2.1/servers/{id}", self._server),
                web.delete("/compute/v2.1/servers/{id}", self._delete),
                web.post("/compute/v2.1/servers/{id}/action", _accepted),
                web.get(
                    "/compute/v2.1/servers/{id}/os-volume_attachments",
                    _always({"volumeAttachments": []}),
                ),
                web.get("/image/v2/images", self._images),
                web.get("/image/v2/images/{id}", self._image),
                web.get("/network/v2.0/networks", _networks),
                web.get("/network/v2.0/subnets", _always({"subnets": answers.SUBNETS})),
                *(
                    web.get(f"/network/v2.0/{kind}", _always({kind: []}))
                    for kind in ("routers", "ports", "floatingips")
                ),
                web.get("/network/v2.0/security-groups", self._groups),
                web.post("/network/v2.0/security-groups", self._group),
                web.delete("/network/v2.0/security-groups/{id}", self._ungroup),
                web.post("/network/v2.0/security-group-rules", _rule),
            ]
        )
        return app

    @web.middleware
    async def _note(self, request: web.Request, handler: Any) -> web.StreamResponse:
        try:
            answer: web.StreamResponse = await handler(request)
            status = answer.status
        except web.HTTPException as refused:
            status = refused.status
            raise
        finally:
            if request.path != "/v3/auth/tokens":
                self.calls.append(f"{request.method} {request.path} {status}")
        return answer

    async def _login(self, request: web.Request) -> web.Response:
        asked = (await request.json())["auth"]
        user = asked["identity"]["password"]["user"]
        project = asked.get("scope", {}).get("project", {})
        accepted = user["password"] == self.password
        domains = user.get("domain", {}), project.get("domain", {})
        name = project.get("name", "")
        self.logins.append(Login(user["name"], domains[0], name, domains[1], accepted))
        if not accepted:
            return web.json_response(answers.UNAUTHORIZED, status=401)
        token = answers.token(self.url, user["name"], name)
        return web.json_response(token, status=201, headers={"X-Subject-Token": "token"})

    async def _flavors(self, _: web.Request) -> web.Response:
        await asyncio.sleep(self.faults.slow)
        return web.json_response({"flavors": [answers.FLAVOR]})

    async def _images(self, _: web.Request) -> web.Response:
        return web.json_response({"images": [] if self.faults.without_image else [answers.IMAGE]})

    async def _image(self, _: web.Request) -> web.Response:
        if self.faults.without_image:
            return web.json_response(answers.not_found("image"), status=404)
        return web.json_response(answers.IMAGE)

    async def _create(self, request: web.Request) -> web.Response:
        asked = (await request.json())["server"]
        await asyncio.sleep(self.faults.launch)
        if self.faults.quota and len(self.servers) >= self.faults.quota:
            return web.json_response(answers.OVER_QUOTA, status=403)
        self._made += 1
        address = str(self.network[FIRST + self._made])
        server = answers.server(self.url, asked, address)
        self.servers[server["id"]] = server
        self._group_of[server["id"]] = "".join(each["name"] for each in asked["security_groups"])
        if asked["name"].startswith(FRONT):
            machine = Machine.of(self.seed, address, self.folder / f"machine-{self._made}")
            self.machines[server["id"]] = machine
            await machine.start()
        self._joins[server["id"]] = asyncio.ensure_future(self._join(server["id"]))
        told = {"id": server["id"], "links": server["links"], "adminPass": "x"}
        return web.json_response({"server": {**told, "security_groups": []}}, status=202)

    async def _list(self, _: web.Request) -> web.Response:
        return web.json_response({"servers": list(self.servers.values())})

    async def _server(self, request: web.Request) -> web.Response:
        found = self.servers.get(request.match_info["id"])
        if found is None:
            return web.json_response(answers.not_found("Instance"), status=404)
        return web.json_response({"server": found})

    async def _delete(self, request: web.Request) -> web.Response:
        name = request.match_info["id"]
        if name not in self.servers:
            return web.json_response(answers.not_found("Instance"), status=404)
        await self.vanish(name)
        return web.Response(status=204)

    async def _groups(self, _: web.Request) -> web.Response:
        return web.json_response({"security_groups": list(self.groups.values())})

    async def _group(self, request: web.Request) -> web.Response:
        made = answers.group((await request.json())["security_group"])
        self.groups[made["id"]] = made
        return web.json_response({"security_group": made}, status=201)

    async def _ungroup(self, request: web.Request) -> web.Response:
        self.groups.pop(request.match_info["id"], None)
        return web.Response(status=204)


def _always(answer: Plain) -> Any:
    async def handle(_: web.Request) -> web.Response:
        return web.json_response(answer)

    return handle


async def _accepted(_: web.Request) -> web.Response:
    return web.Response(status=202)


async def _networks(request: web.Request) -> web.Response:
    outside = request.query.get("router:external")
    fitting = [
        each
        for each in answers.NETWORKS
        if outside is None or str(each["router:external"]) == outside
    ]
    return web.json_response({"networks": fitting})


async def _rule(request: web.Request) -> web.Response:
    made = answers.with_id((await request.json())["security_group_rule"])
    return web.json_response({"security_group_rule": made}, status=201)
