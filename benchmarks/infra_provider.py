"""The modelled provider, and every cluster that it made, as one process.

It speaks as much of Infrastructure Manager's REST API as operators ask for. All made clusters are
one server with TLS that has two ready nodes. It prints its port; under /control it is told what to
do, and says what it was asked.
"""

from __future__ import annotations

import asyncio
import base64
import ssl
import sys
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from aiohttp import web

from benchmarks.infra_model import ProviderModel
from quintant.keys.authority import Authority, Validity
from quintant.keys.tls import load_key_pair

HOST = "127.0.0.1"
KUBECONFIG = """apiVersion: v1
kind: Config
clusters:
- {{name: made, cluster: {{server: "https://127.0.0.1:{port}", certificate-authority-data: {ca}}}}}
users: [{{name: admin, user: {{token: made-token}}}}]
contexts: [{{name: made, context: {{cluster: made, user: admin}}}}]
current-context: made
"""


def _node(name: str) -> dict[str, Any]:
    status = {"conditions": [{"type": "Ready", "status": "True"}]}
    return {"metadata": {"name": name, "uid": name}, "status": status}


NODES = {
    "apiVersion": "v1",
    "kind": "NodeList",
    "metadata": {"resourceVersion": "1"},
    "items": [_node("front"), _node("worker")],
}


class Provider:
    """The model behind HTTP."""

    def __init__(self) -> None:
        self.model = ProviderModel(time.monotonic)
        self.kubeconfig = ""

    def application(self) -> web.Application:
        """Everything that is served without TLS."""
        app = web.Application(client_max_size=64 * 1024 * 1024)
        one = "/infrastructures/{id}"
        app.add_routes(
            [
                web.get("/version", self._version),
                web.get("/infrastructures", self._list),
                web.post("/infrastructures", self._create),
                web.post(one, self._update),
                web.delete(one, self._delete),
                web.get(f"{one}/state", self._state),
                web.get(f"{one}/outputs", self._outputs),
                web.get(f"{one}/tosca", self._tosca),
                web.get(f"{one}/contmsg", self._log),
                web.get(f"{one}/vms/{{machine}}", self._machine),
                web.post("/control", self._control),
                web.get("/control", self._told),
                web.post("/control/fail/{id}", self._fail),
            ]
        )
        return app

    async def _version(self, _: web.Request) -> web.Response:
        self.model.counts["version"] += 1
        return web.json_response({"version": "2.0.0"})

    async def _list(self, request: web.Request) -> web.Response:
        self.model.counts["list"] += 1
        uris = [{"uri": f"{request.url}/{id}"} for id in self.model.made]
        return web.json_response({"uri-list": uris})

    async def _create(self, request: web.Request) -> web.Response:
        body = await request.read()
        if request.query.get("dry_run") == "true":
            self.model.counts["plan"] += 1
            return web.json_response({"cloud": {"compute": [{}, {}]}})
        self.model.counts["create"] += 1
        id = self.model.create(body)
        return web.json_response({"uri": f"{request.url}/{id}"}, headers={"InfID": id})

    async def _update(self, request: web.Request) -> web.Response:
        self.model.counts["update"] += 1
        await request.read()
        return web.json_response({"uri-list": []})

    async def _delete(self, request: web.Request) -> web.Response:
        self.model.counts["delete"] += 1
        return web.Response() if self.model.delete(request.match_info["id"]) else _missing()

    async def _state(self, request: web.Request) -> web.Response:
        self.model.counts["state"] += 1
        found = self.model.state(request.match_info["id"])
        if found is None:
            return _missing()
        return web.json_response({"state": {"state": found[0], "vm_states": found[1]}})

    async def _outputs(self, _: web.Request) -> web.Response:
        self.model.counts["outputs"] += 1
        return web.json_response({"outputs": {"kubeconfig": self.kubeconfig}})

    async def _tosca(self, request: web.Request) -> web.Response:
        self.model.counts["tosca"] += 1
        found = self.model.made.get(request.match_info["id"])
        if found is None:
            return _missing()
        return web.json_response({"tosca": found.template.decode()})

    async def _log(self, _: web.Request) -> web.Response:
        self.model.counts["log"] += 1
        return web.Response(text="")

    async def _machine(self, request: web.Request) -> web.Response:
        self.model.counts["machine"] += 1
        name = request.match_info["machine"]
        system = {"class": "system", "instance_name": name, "net_interface.0.ip": f"10.0.0.{name}"}
        return web.json_response({"radl": [system]})

    async def _control(self, request: web.Request) -> web.Response:
        asked = msgspec.json.decode(await request.read())
        self.model.create_seconds = asked.get("create_seconds", self.model.create_seconds)
        self.model.settle(asked.get("settle", []))
        return web.Response()

    async def _told(self, _: web.Request) -> web.Response:
        return web.json_response(self.model.counts)

    async def _fail(self, request: web.Request) -> web.Response:
        self.model.made[request.match_info["id"]].failed = True
        return web.json_response(time.monotonic())


def _missing() -> web.Response:
    said = "Invalid infrastructure ID or access not granted."
    return web.json_response({"message": said, "code": 404}, status=404)


async def _ready(_: web.Request) -> web.Response:
    return web.Response(text="ok")


async def _nodes(_: web.Request) -> web.Response:
    return web.json_response(NODES)


async def _serve(app: web.Application, context: ssl.SSLContext | None = None) -> int:
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, HOST, 0, ssl_context=context).start()
    port: int = runner.addresses[0][1]
    return port


async def main() -> None:
    """Serve until killed."""
    now = datetime.now(UTC)
    validity = Validity(now - timedelta(hours=1), now + timedelta(days=1))
    authority = Authority.make("made", validity)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    load_key_pair(context, authority.serving([HOST], validity))
    target = web.Application()
    target.add_routes([web.get("/readyz", _ready), web.get("/api/v1/nodes", _nodes)])
    port = await _serve(target, context)
    provider = Provider()
    ca = base64.b64encode(authority.certificate).decode()
    provider.kubeconfig = KUBECONFIG.format(port=port, ca=ca)
    print(await _serve(provider.application()), flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        sys.exit(0)
