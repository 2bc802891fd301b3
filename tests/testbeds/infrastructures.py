"""What a test asks of Infrastructure Manager itself, beside the operator: a client, templates.

async with Infrastructures.at(manager.url, dummy_record()) as infrastructures:
    id = await infrastructures.create(dummy_template("a kubeconfig", workers=2))
    await infrastructures.until(id, "configured")
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Self
from uuid import uuid4

from aiohttp import ClientSession

import patience
from testbeds.openstack import FRONT

Plain = dict[str, Any]
PASSWORD = "of infrastructures"
IMAGE_URL = "ost://127.0.0.1/img1"
QUOTE = '"'
LOOK_SECONDS = 0.1
WITHIN_SECONDS = 40.0
_ESCAPE = re.compile(r'\\["\\/bfnrt]')


@dataclass(frozen=True)
class Answer:
    """What IM said."""

    status: int
    text: str

    @property
    def json(self) -> Any:
        """The text as JSON."""
        return json.loads(self.text)


@dataclass(frozen=True)
class InfrastructureState:
    """The state of an infrastructure and of its machines, by their numbers."""

    state: str
    machines: dict[str, str]


class Infrastructures:
    """The infrastructures of one user."""

    def __init__(self, session: ClientSession, user: str, records: Iterable[Plain]) -> None:
        self._session, self.user = session, user
        self._headers = {"Authorization": _header(records), "Accept": "application/json"}

    @classmethod
    @asynccontextmanager
    async def at(
        cls, url: str, *clouds: Plain, user: str = "", password: str = PASSWORD
    ) -> AsyncIterator[Self]:
        """Those of a user of the IM at a URL, who has accounts at these clouds; else a new one."""
        user = user or f"tester-{uuid4().hex}"
        own = {
            "id": "im",
            "type": "InfrastructureManager",
            "username": user,
            "password": password,
        }
        async with ClientSession(url) as session:
            yield cls(session, user, (own, *clouds))

    async def ask(self, method: str, path: str, body: str | None = None) -> Answer:
        """Ask something; a body is a template."""
        headers = {**self._headers, **({"Content-Type": "text/yaml"} if body else {})}
        async with self._session.request(method, path, headers=headers, data=body) as answer:
            return Answer(answer.status, await answer.text())

    async def ids(self) -> list[str]:
        """All of them."""
        answer = await self.ask("GET", "/infrastructures")
        assert answer.status == 200, answer
        return [each["uri"].rpartition("/")[2] for each in answer.json["uri-list"]]

    async def dry_run(self, template: str) -> Answer:
        """What would be made; nothing is."""
        return await self.ask("POST", "/infrastructures?dry_run=true", template)

    async def create(self, template: str) -> str:
        """Ask for an infrastructure; its id, before anything of it is there."""
        answer = await self.ask("POST", "/infrastructures?async=true", template)
        assert answer.status == 200, answer
        id: str = answer.json["uri"].rpartition("/")[2]
        return id

    async def update(self, id: str, template: str) -> Answer:
        """Ask for another shape, and wait until it has it."""
        return await self.ask("POST", f"/infrastructures/{id}", template)

    async def state(self, id: str) -> InfrastructureState | None:
        """How it is; None if there is none."""
        answer = await self.ask("GET", f"/infrastructures/{id}/state")
        if answer.status == 404:
            return None
        assert answer.status == 200, answer
        told = answer.json["state"]
        return InfrastructureState(told["state"], told["vm_states"])

    async def outputs(self, id: str) -> Plain:
        """What its template promised."""
        answer = await self.ask("GET", f"/infrastructures/{id}/outputs")
        assert answer.status == 200, answer
        found: Plain = answer.json["outputs"]
        return found

    async def delete(self, id: str) -> Answer:
        """Ask for its end."""
        return await self.ask("DELETE", f"/infrastructures/{id}?async=true")

    async def until(self, id: str, *states: str) -> InfrastructureState:
        """Wait until it is in one of these states."""
        found = await self._look(id, lambda now: now is not None and now.state in states)
        assert found is not None
        return found

    async def until_gone(self, id: str) -> None:
        """Delete it again until IM knows nothing of it.

        Whoever asks for the state at the moment when the deletion ends brings it back: 1 of 21
        times, and nearly always on a busy machine. It is `unknown` or `pending` then, without
        machines.
        """
        async with patience.within(WITHIN_SECONDS):
            while True:
                if (await self.delete(id)).status == 404:
                    return
                await asyncio.sleep(LOOK_SECONDS)

    async def destroy(self, id: str) -> None:
        """Delete it so that nothing is left, of which IM needs some care.

        A DELETE before a machine is listed is answered with 200 and leaks the machines; one while
        they are launched with 409.
        """
        await self._look(id, lambda now: now is None or bool(now.machines) or now.state == "failed")
        await self.until_gone(id)

    async def _look(
        self, id: str, wanted: Callable[[InfrastructureState | None], bool]
    ) -> InfrastructureState | None:
        """Wait until it is as wanted; how it is then."""
        found: InfrastructureState | None = None
        try:
            async with patience.within(WITHIN_SECONDS):
                while True:
                    found = await self.state(id)
                    if wanted(found):
                        return found
                    await asyncio.sleep(LOOK_SECONDS)
        except TimeoutError:
            raise AssertionError(f"after {WITHIN_SECONDS} s it is still {found}") from None


def _header(records: Iterable[Plain]) -> str:
    """Records as IM takes them: it reads backslashes itself, before it reads JSON."""
    text = json.dumps(list(records))
    return _ESCAPE.sub(lambda found: f"\\u{ord(json.loads(f'{QUOTE}{found[0]}{QUOTE}')):04x}", text)


async def eventually(check: Callable[[], Awaitable[bool]]) -> None:
    """Wait until something is so."""
    async with patience.within(WITHIN_SECONDS):
        while True:
            if await check():
                return
            await asyncio.sleep(LOOK_SECONDS)


def dummy_record(name: str = "dummy") -> Plain:
    """How IM is told of its Dummy cloud."""
    return {"id": name, "type": "Dummy"}


def dummy_template(kubeconfig: str, workers: int = 1, name: str = "sample") -> str:
    """A front and some workers; the output is the kubeconfig that was given.

    Types are declared here, as IM would fetch those that people use from the internet.
    """
    given = {"type": "string", "default": kubeconfig}
    inputs = {"workers": _workers(workers), "kubeconfig": given}
    return _template(name, {"get_input": "kubeconfig"}, inputs)


def openstack_template(parts: tuple[str, str], workers: int = 0, name: str = "sample") -> str:
    """A front and some workers; the output is the kubeconfig, around the front's address.

    `parts` are what stands before and behind the address: `OpenStack.seed.parts`.
    """
    before, after = parts
    address = {"get_attribute": [FRONT, "private_address"]}
    return _template(name, {"concat": [before, address, after]}, {"workers": _workers(workers)})


def _workers(count: int) -> Plain:
    return {"type": "integer", "default": count}


def _template(name: str, kubeconfig: Plain, inputs: Plain) -> str:
    count = {"scalable": {"properties": {"count": {"get_input": "workers"}}}}
    # JSON is YAML.
    return json.dumps(
        {
            "tosca_definitions_version": "tosca_simple_yaml_1_0",
            "metadata": {"infra_name": name},
            "capability_types": _CAPABILITIES,
            "node_types": _NODES,
            "topology_template": {
                "inputs": inputs,
                "node_templates": {FRONT: _node({}), "worker": _node(count)},
                "outputs": {
                    "address": {"value": {"get_attribute": [FRONT, "private_address"]}},
                    "kubeconfig": {"value": kubeconfig},
                },
            },
        }
    )


def _node(more: Plain) -> Plain:
    system = {"type": "linux", "distribution": "ubuntu", "version": 22.04, "image": IMAGE_URL}
    capabilities = {
        "host": {"properties": {"num_cpus": 2, "mem_size": "2 GB"}},
        "os": {"properties": system},
    }
    return {"type": "sample.nodes.Compute", "capabilities": {**capabilities, **more}}


_CAPABILITIES: Plain = {
    "sample.capabilities.OperatingSystem": {
        "derived_from": "tosca.capabilities.OperatingSystem",
        "properties": {"image": {"type": "string", "required": False}},
    },
    "sample.capabilities.Scalable": {
        "derived_from": "tosca.capabilities.Scalable",
        "properties": {
            "count": {"type": "integer", "required": False, "default": 1},
            "removal_list": {
                "type": "list",
                "required": False,
                "default": [],
                "entry_schema": {"type": "string"},
            },
        },
    },
}
_NODES: Plain = {
    "sample.nodes.Compute": {
        "derived_from": "tosca.nodes.Compute",
        "capabilities": {
            "os": {"type": "sample.capabilities.OperatingSystem"},
            "scalable": {"type": "sample.capabilities.Scalable"},
        },
    }
}
