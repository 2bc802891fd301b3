"""What a reconcile costs, counted in function calls: the same on every machine, however busy.

The operator of `make bench` (a child, then a status) talks HTTP to a server in the same process.
Left out is what runs below the server's own functions, and the beats of a process at rest.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import uvloop
from benchmarks.operators.kind import Greeter, GreeterSpec
from benchmarks.operators.with_quintant import reconcile

import quintant
from quintant import Manager, ObjectMeta
from quintant.api.core import ConfigMap
from quintant.client.config.config import Config
from quintant.client.config.credentials import Credential, StaticCredential
from quintant.client.http.transport import HttpTransport
from quintant.client.transport import ApiRequest, InProcessTransport, Transport
from quintant.cluster.apiserver.meta.user import admin
from quintant.cluster.apiserver.server.https import serve
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.core import codec
from quintant.core.resource import resource_of
from quintant.runtime.manager.engine import Engine
from quintant.runtime.manager.environment import Environment
from quintant.runtime.manager.install_crds import install_crds
from testbeds.call_counter import counted_calls

TOKEN = "calls"
# Before any is counted, connections and caches are warm.
WARM, COUNTED = 5, 20
CALLS = 950
"""For each Greeter: the reconcile that writes, the one its writes bring, and the watches."""

SOURCE = Path(quintant.__file__).parent
# The server's side, what happens at rest too, and what mends an early Python.
APART = (
    str(SOURCE / "early_python311.py"),
    *(str(SOURCE / each) for each in ("cluster/", "http/connection", "http/server.py")),
    *(str(SOURCE / "runtime/manager" / each) for each in ("watchdog.py", "loop_monitor.py")),
    str(Path(__file__).parent),
)


def declare() -> Manager:
    manager = Manager("greeter")
    manager.controls(Greeter).owns(ConfigMap).workers(10).reconcile(reconcile)
    return manager


async def greet(inside: Transport, engine: Engine, name: str) -> None:
    """Create a Greeter, and wait until it has led to all that it leads to."""
    greeter = Greeter(
        metadata=ObjectMeta(name=name, namespace="default"), spec=GreeterSpec(message=name)
    )
    path = resource_of(Greeter).path("default")
    await inside.request(ApiRequest("POST", path, body=codec.encode_object(greeter)))
    (controller,) = engine.controllers
    store = engine.caches.informer_for(Greeter).store
    while not (greeted(store.get(greeter.key)) and controller.idle):  # noqa: ASYNC110
        await asyncio.sleep(0)  # turns of the loop, and no time


def greeted(greeter: Greeter | None) -> bool:
    return greeter is not None and greeter.status is not None


async def count_calls() -> float:
    """The calls that each of some Greeters leads to, one after the other."""
    server = ApiServer()
    server.tokens.add(TOKEN, admin())
    inside = InProcessTransport(server, TOKEN)
    await install_crds(inside, [Greeter])
    async with serve(server) as url:
        shown = StaticCredential(Credential({"authorization": f"Bearer {TOKEN}"}))
        transport = HttpTransport(Config(url), credentials=shown)
        async with declare().running(Environment(transport)) as engine:
            for number in range(WARM):
                await greet(inside, engine, f"warm-{number}")
            with counted_calls(APART) as counter:
                for number in range(COUNTED):
                    await greet(inside, engine, f"counted-{number}")
        await transport.close()
    return counter.calls / COUNTED


def test_a_reconcile_with_a_child_and_a_status_makes_at_most_950_calls() -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(count_calls()) <= CALLS
