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
from quintant import Manager, ObjectMeta, Shards
from quintant.api.core import ConfigMap
from quintant.client.config.config import Config
from quintant.client.config.credentials import Credential, StaticCredential
from quintant.client.http.transport import HttpTransport
from quintant.client.rest import Rest
from quintant.client.transport import ApiRequest, InProcessTransport, Transport
from quintant.cluster.apiserver.meta.user import admin
from quintant.cluster.apiserver.server.https import serve
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.core import codec
from quintant.core.resource import resource_of
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.engine import Engine
from quintant.runtime.manager.environment import Environment
from quintant.runtime.manager.install_crds import install_crds
from quintant.runtime.shard.process import new_group
from quintant.runtime.shard.range_states import RangeState
from testbeds.call_counter import counted_calls

TOKEN = "calls"
# Before any is counted, connections and caches are warm.
WARM, COUNTED = 5, 20
CALLS, MEMBER_CALLS = 950, 1_140
"""For each Greeter: the reconcile that writes, the one its writes bring, and the watches.

The only member of a sharded manager asks whose each key is, and passes a fence of its own.
"""

SOURCE = Path(quintant.__file__).parent
# The server's side, what happens at rest too, and what mends an early Python.
APART = (
    str(SOURCE / "early_python311.py"),
    *(str(SOURCE / each) for each in ("cluster/", "http/connection", "http/server.py")),
    *(str(SOURCE / "runtime/manager" / each) for each in ("watchdog.py", "loop_monitor.py")),
    str(SOURCE / "runtime/shard/coordinator.py"),
    str(Path(__file__).parent),
)


def declare(shards: Shards | None) -> Manager:
    manager = Manager("greeter", shards=shards or False)
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


async def begin(engine: Engine) -> None:
    """Wait until the only member works on every key."""
    assert engine.coordinator is not None, "it is sharded"
    states = engine.coordinator.owned.states
    while len(states) <= Shards().ranges or {*states.values()} != {RangeState.HELD}:  # noqa: ASYNC110
        await asyncio.sleep(0)


async def count_calls(shards: Shards | None = None) -> float:
    """The calls that each of some Greeters leads to, one after the other."""
    server = ApiServer()
    server.tokens.add(TOKEN, admin())
    inside = InProcessTransport(server, TOKEN)
    await install_crds(inside, [Greeter])
    manager = declare(shards)
    if shards is not None:
        unused = new_group(manager.name, "default", shards, manager.declarations)
        await Client(Rest(inside)).create(unused)
    async with serve(server) as url:
        shown = StaticCredential(Credential({"authorization": f"Bearer {TOKEN}"}))
        transport = HttpTransport(Config(url), credentials=shown)
        async with manager.running(Environment(transport)) as engine:
            if shards is not None:
                await begin(engine)
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


def test_a_reconcile_of_the_only_member_makes_a_fifth_more_calls_at_most() -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(count_calls(Shards())) <= MEMBER_CALLS
