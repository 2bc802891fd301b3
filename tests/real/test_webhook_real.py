"""A real kube-apiserver asks our webhooks, and so does the embedded one: what they send is what we
read, and what we answer is what their users see."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from quintant import Config
from quintant.api.apiextensions import CustomResourceDefinition
from quintant.api.core import ConfigMap
from quintant.client.http.transport import HttpTransport
from quintant.client.rest import APPLY, MERGE, Rest
from quintant.client.transport import JSON, ApiRequest
from quintant.cluster.instance.cluster import ClusterConfig, run_cluster, save_kubeconfig
from quintant.core.address import BindAddress
from quintant.core.codec import encode
from quintant.core.errors import ApiError, Cause, NotFound
from quintant.core.object import Custom, Model, replace
from quintant.core.resource import resource
from quintant.runtime.cache.client import Client
from quintant.runtime.observe.metrics import Metrics
from quintant.runtime.webhook import (
    Admission,
    Allowed,
    Denied,
    Plain,
    Spoke,
    WebhookDeclarations,
    WebhookSettings,
    invalid,
)
from quintant.runtime.webhook.certificate_rotation import OVERLAP
from quintant.runtime.webhook.publish import configuration_publisher
from quintant.runtime.webhook.selfsigned import LAPTOP, SelfSignedCertificates
from quintant.runtime.webhook.server import WebhookServer
from testbeds.ports import free_port

pytestmark = pytest.mark.realtime

PATIENCE_SECONDS = 30.0
LOAD_SECONDS = 0.5
DEFINITION = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gates.gates.example.com"
CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/{}webhookconfigurations"
NAME = "webhooks-under-test"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


class GateSpec(Model):
    host: str = ""
    port: int = 0


@resource(group="gates.example.com", version="v1")
class Gate(Custom[GateSpec, None]):
    """A gate, of which the API server knows more than this type."""


class ShiftedClock:
    """The machine's clock, with an offset that tests move."""

    def __init__(self) -> None:
        self.offset = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self.offset


class World:
    """A client of the real server, and webhooks that it can reach."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.webhooks = WebhookDeclarations(NAME)
        self.clock = ShiftedClock()

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Serve what was declared, and have the API server know of it."""
        self.port = free_port()
        publish = configuration_publisher(
            self.webhooks, f"https://127.0.0.1:{self.port}", self.client
        )
        self.server = WebhookServer(
            self.webhooks,
            client=self.client,
            metrics=Metrics(),
            source=SelfSignedCertificates(LAPTOP, clock=self.clock, publish=publish),
        )
        async with self.server.serve(f"127.0.0.1:{self.port}"):
            yield

    async def shown(self) -> str:
        """The certificate that a new connection sees."""
        return await asyncio.to_thread(ssl.get_server_certificate, ("127.0.0.1", self.port))

    async def create(self, obj: dict[str, Any], *, dry: bool = False) -> tuple[int, Any, str]:
        """Status, body and warning of a creation."""
        call = ApiRequest(
            "POST", collection(obj["apiVersion"]), {"dryRun": "All"} if dry else {},
            headers={"content-type": JSON}, body=encode(obj),
        )  # fmt: skip
        reply = await self.client.rest.transport.request(call)
        return reply.status, msgspec.json.decode(reply.body), reply.headers.get("warning", "")

    async def until(self, done: Callable[[int, Any], bool], obj: dict[str, Any]) -> None:
        """Wait until a rehearsed creation goes as it should: configurations need a moment."""

        async def check() -> bool:
            status, body, _ = await self.create(obj, dry=True)
            return done(status, body)

        await eventually(check)

    async def read(self, path: str) -> Any:
        return msgspec.json.decode(await self.client.raw("GET", path))


def collection(version: str) -> str:
    return f"/apis/{version}/namespaces/default/gates"


def gate(name: str, version: str = "v1", /, **spec: Any) -> dict[str, Any]:
    head = {"apiVersion": f"gates.example.com/{version}", "kind": "Gate"}
    return {**head, "metadata": {"name": name}, "spec": spec}


async def eventually(check: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            if await check():
                return
            await asyncio.sleep(0.05)


async def define(client: Client) -> None:
    """Define the kind in two versions, with room for fields our type does not know."""
    spec = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    body = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "gates.gates.example.com"},
        "spec": {
            "group": "gates.example.com",
            "scope": "Namespaced",
            "names": {"plural": "gates", "kind": "Gate"},
            "versions": [
                {"name": name, "served": True, "storage": name == "v1", "schema": schema}
                for name in ("v1", "v1alpha1")
            ],
        },
    }
    path = f"{DEFINITION}?fieldManager=test&force=true"
    await client.raw("PATCH", path, body=encode(body), headers={"content-type": APPLY})
    found = await client.get(CustomResourceDefinition, "gates.gates.example.com")
    await client.wait(found, lambda seen: bool(seen and seen.established), PATIENCE_SECONDS)


@pytest_asyncio.fixture(params=["embedded", "real"])
async def client(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Client]:
    async with AsyncExitStack() as stack:
        if request.param == "embedded":
            cluster = await stack.enter_async_context(
                run_cluster(ClusterConfig(BindAddress("127.0.0.1", 0)))
            )
            kubeconfig = tmp_path / "kubeconfig"
            save_kubeconfig(cluster, kubeconfig)
        else:
            kubeconfig = request.getfixturevalue("real_cluster").kubeconfig
        transport = HttpTransport(Config.load(kubeconfig))
        stack.push_async_callback(transport.close)
        yield Client(Rest(transport), manager="tests")


@pytest_asyncio.fixture
async def world(client: Client) -> AsyncIterator[World]:
    await define(client)
    yield World(client)
    await clean(client)


async def clean(client: Client) -> None:
    """Remove what a test left, the configurations first: nobody answers for them any more."""
    for kind in ("validating", "mutating"):
        configuration = f"{NAME}-{kind}-webhook-configuration"
        await discard(client, f"{CONFIGURATIONS.format(kind)}/{configuration}")
    unconverted = b'{"spec":{"conversion":{"strategy":"None","webhook":null}}}'
    await client.raw("PATCH", DEFINITION, body=unconverted, headers={"content-type": MERGE})
    await client.raw("DELETE", collection("gates.example.com/v1"))
    await discard(client, f"{CONFIG_MAPS}/{NAME}")


async def discard(client: Client, path: str) -> None:
    with suppress(NotFound):
        await client.raw("DELETE", path)


async def judge(old: Gate | None, new: Gate | None, _: Admission) -> Denied | Allowed | None:
    if new is None:
        return Denied("gates stay") if old and old.spec.port == 443 else None
    causes = []
    if new.spec.port == 22:
        causes.append(Cause("FieldValueInvalid", "must not be 22", "spec.port"))
    if new.spec.host != new.spec.host.lower():
        causes.append(Cause("FieldValueInvalid", "must be lower case", "spec.host"))
    if causes:
        return invalid(*causes)
    return Allowed(warnings=("port 80 is in the clear",)) if new.spec.port == 80 else None


async def test_a_validator_denies_warns_and_lets_through(world: World) -> None:
    world.webhooks.validating(Gate, judge, operations=("CREATE", "UPDATE", "DELETE"))
    async with world.serving():
        await world.until(lambda status, _: status == 422, gate("probe", port=22))

        _, refusal, _ = await world.create(gate("a", port=22, host="B"))
        assert refusal["message"] == (
            'admission webhook "vgate-v1.kb.io" denied the request: '
            "spec.port: must not be 22; spec.host: must be lower case"
        )
        fields = [cause["field"] for cause in refusal["details"]["causes"]]
        assert fields == ["spec.port", "spec.host"]

        status, _, warning = await world.create(gate("a", port=80))
        assert (status, warning) == (201, '299 - "port 80 is in the clear"')

        stored = await world.client.get(Gate, "a", "default")
        with pytest.raises(ApiError, match=r"denied the request: spec\.port"):
            await world.client.patch(replace(stored, spec=GateSpec(port=22)), since=stored)
        await world.client.patch(replace(stored, spec=GateSpec(port=443)), since=stored)
        with pytest.raises(ApiError, match="denied the request: gates stay"):
            await world.client.delete(stored)
        stored = await world.client.get(Gate, "a", "default")
        await world.client.patch(replace(stored, spec=GateSpec(port=1)), since=stored)
        await world.client.delete(stored)


async def test_a_mutation_keeps_what_the_type_does_not_know(world: World) -> None:
    async def fill(new: Gate, _: Admission) -> Gate:
        labels = {**new.metadata.labels, "example.com/a": "filled"}
        metadata = replace(new.metadata, labels=labels)
        return replace(new, metadata=metadata, spec=replace(new.spec, host="filled", port=0))

    async def sign(new: ConfigMap, _: Admission) -> ConfigMap:
        annotations = {**new.metadata.annotations, "example.com/b": "signed"}
        return replace(new, metadata=replace(new.metadata, annotations=annotations))

    world.webhooks.mutating(Gate, fill)
    world.webhooks.mutating(
        ConfigMap, sign, settings=WebhookSettings(reinvocation_policy="IfNeeded")
    )
    async with world.serving():
        probe = gate("probe")
        await world.until(lambda _, made: made["spec"].get("host") == "filled", probe)

        _, made, _ = await world.create(gate("a", port=5, colour="red", deep={"x": [1]}))
        assert made["spec"] == {"host": "filled", "colour": "red", "deep": {"x": [1]}}
        assert made["metadata"]["labels"] == {"example.com/a": "filled"}

        body = {"metadata": {"name": NAME}, "immutable": True, "binaryData": {"b": "eA=="}}
        await world.client.raw(
            "POST", CONFIG_MAPS, headers={"content-type": JSON},
            body=encode({"apiVersion": "v1", "kind": "ConfigMap", **body}),
        )  # fmt: skip
        stored = await world.read(f"{CONFIG_MAPS}/{NAME}")
        assert stored["metadata"]["annotations"] == {"example.com/b": "signed"}
        assert stored["binaryData"] == {"b": "eA=="}
        assert stored["immutable"] is True


async def test_a_kind_is_converted_between_its_versions(world: World) -> None:
    def up(obj: Plain) -> Plain:
        obj["spec"]["host"] = obj["spec"].pop("name", "")
        obj["metadata"].setdefault("annotations", {})["was"] = "v1alpha1"
        return obj

    def down(obj: Plain) -> Plain:
        obj["spec"]["name"] = obj["spec"].pop("host", "")
        return obj

    world.webhooks.converting(Gate, {"v1alpha1": Spoke(to_hub=up, from_hub=down)})
    async with world.serving():
        old = gate("a", "v1alpha1", name="north", colour="red")

        async def converted() -> bool:
            definition = await world.read(DEFINITION)
            return bool(definition["spec"]["conversion"]["strategy"] == "Webhook")

        await eventually(converted)
        await world.until(
            lambda status, made: status == 201 and "annotations" in made["metadata"], old
        )
        _, made, _ = await world.create(old)
        assert made["spec"] == {"name": "north", "colour": "red"}
        await world.create(gate("b", host="south"))

        hub = await world.read(collection("gates.example.com/v1") + "/a")
        assert hub["spec"] == {"host": "north", "colour": "red"}
        assert hub["metadata"]["uid"] == made["metadata"]["uid"]

        listed = await world.read(collection("gates.example.com/v1alpha1"))
        assert [each["spec"]["name"] for each in listed["items"]] == ["north", "south"]


async def test_a_slow_handler_is_explained_by_us_and_not_by_a_deadline(world: World) -> None:
    async def dawdle(_old: Gate | None, _new: Gate | None, _: Admission) -> None:
        await asyncio.sleep(3600)

    world.webhooks.validating(Gate, dawdle, settings=WebhookSettings(timeout_seconds=1))
    async with world.serving():
        await world.until(lambda status, _: status == 504, gate("probe"))
        _, refusal, _ = await world.create(gate("a"))
        assert refusal["message"].endswith("there was no verdict within 0.5 s")


async def test_a_failing_handler_refuses_or_is_ignored_as_declared(world: World) -> None:
    async def stumble(_old: Gate | None, _new: Gate | None, _: Admission) -> None:
        raise KeyError("hunter2")

    world.webhooks.validating(Gate, stumble, settings=WebhookSettings(failure_policy="Ignore"))
    async with world.serving():

        async def warned() -> bool:
            _, _, warning = await world.create(gate("probe"), dry=True)
            return "vgate-v1.kb.io was ignored: the validator failed: KeyError" in warning

        await eventually(warned)
        status, _, _ = await world.create(gate("a"))
        assert status == 201


async def test_no_admission_fails_while_the_certificate_is_replaced(world: World) -> None:
    world.clock.offset = -timedelta(days=61)
    world.webhooks.validating(Gate, judge)
    async with world.serving(), asyncio.TaskGroup() as group:
        await world.until(lambda status, _: status == 422, gate("probe", port=22))
        statuses: list[int] = []

        async def load() -> None:
            while True:
                statuses.append((await world.create(gate("load"), dry=True))[0])

        first, tasks = await world.shown(), [group.create_task(load())]
        for offset in (timedelta(), OVERLAP):
            world.clock.offset = offset
            await world.server.certificates.refresh()
            # More callers at once make the API server open further connections.
            tasks += [group.create_task(load()) for _ in range(4)]
            await asyncio.sleep(LOAD_SECONDS)
        assert await world.shown() != first
        for task in tasks:
            task.cancel()
    assert set(statuses) == {201}
