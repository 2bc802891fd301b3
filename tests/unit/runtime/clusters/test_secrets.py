"""Clusters come and go, and the operator is restarted with another list of kubeconfigs each time.

A Secret with a label is a cluster: made, changed and deleted while the operator runs. Who may write
it names a server; he does not make the operator start a program or read a file. What is in a
cluster that is taken from the list stays as it is.
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from quintant import KeyedState, Manager, ObjectMeta, Request, SecretClusters
from quintant.api.core import ConfigMap, Namespace, Secret
from quintant.api.events import Event
from quintant.core.errors import ConfigError
from quintant.runtime.clusters.states import ClusterState
from quintant.runtime.manager.engine import Engine
from quintant.testing import InProcessCluster, writes
from quintant.testing.privileges import grant
from scenarios.greeter import Greeter, greeter, reconcile

LABELS = {"quintant.dev/cluster": "true"}
WEST = "fleet.west"
THERE = Request("a", "default").in_cluster(WEST)


class Fleet:
    """A greeter's manager whose clusters are Secrets in the namespace `fleet`."""

    def __init__(self, home: InProcessCluster, **settings: Any) -> None:
        self.home = home
        self.state: KeyedState[list[str]] = KeyedState(list)
        self.manager = Manager("greeter", **settings)
        self.manager.clusters(SecretClusters(namespaces=("fleet",)))
        (
            self.manager.controls(Greeter)
            .owns(ConfigMap)
            .finalize("demo.dev/greeter", self.cleanup)
            .keeps(self.state)
            .reconcile(self.reconcile)
        )
        self.cleaned: list[Request] = []

    async def reconcile(self, obj: Greeter, ctx: Any) -> None:
        self.state[ctx.request].append(obj.spec.message)
        await reconcile(obj, ctx)

    async def cleanup(self, obj: Greeter, ctx: Any) -> None:
        self.cleaned.append(ctx.request)

    async def other(self, name: str, *, seed: int) -> tuple[InProcessCluster, str]:
        other = InProcessCluster(seed=seed)
        await other.install(Greeter)
        return other, self.home.beside(name, other)

    async def secret(self, text: str, **more: Any) -> None:
        data = {"kubeconfig": base64.b64encode(text.encode()).decode(), **more}
        meta = ObjectMeta(name="west", namespace="fleet", labels=LABELS)
        await self.namespace()
        await self.home.client.apply(Secret(metadata=meta, data=data))

    async def namespace(self) -> None:
        await self.home.client.apply(Namespace(metadata=ObjectMeta(name="fleet")))

    async def remove(self) -> None:
        await self.home.client.delete(await self.home.get(Secret, "west", "fleet"))


async def greeted(cluster: InProcessCluster, text: str) -> None:
    await cluster.eventually(ConfigMap, "a", until=lambda child: child.data["text"] == text)


async def reasons(cluster: InProcessCluster) -> list[str]:
    events = await cluster.client.list(Event, "fleet", live=True)
    return [each.reason for each in events if each.regarding.kind == "Secret"]


def states(engine: Engine) -> dict[str, ClusterState]:
    assert engine.clusters is not None
    return {name: each.state for name, each in engine.clusters.conditions.items()}


async def test_a_secret_that_comes_is_a_cluster_that_is_worked_in(
    cluster: InProcessCluster,
) -> None:
    fleet = Fleet(cluster)
    engine = await cluster.run(fleet.manager)
    west, text = await fleet.other("west", seed=1)
    await west.create(greeter("a", "there"))
    await fleet.secret(text)
    await greeted(west, "there")
    await cluster.advance(10)
    assert states(engine) == {WEST: ClusterState.READY}
    assert await reasons(cluster) == ["ClusterReady"]


async def test_a_secret_that_goes_is_forgotten_with_its_keys_and_nothing_is_deleted_there(
    cluster: InProcessCluster,
) -> None:
    fleet = Fleet(cluster)
    engine = await cluster.run(fleet.manager)
    west, text = await fleet.other("west", seed=1)
    await west.create(greeter("a", "there"))
    await fleet.secret(text)
    await greeted(west, "there")
    await cluster.advance(5)
    assert THERE in fleet.state
    await fleet.remove()
    await cluster.advance(5)
    assert states(engine) == {}
    assert THERE not in fleet.state
    assert 'cluster="fleet.west"' not in engine.metrics.render().decode()
    before = len(west.faults.seen())
    await west.create(greeter("b", "later"))
    await cluster.advance(600)
    assert len(west.faults.seen()) == before, "nothing is sent to it any more"
    kept = await west.get(Greeter, "a")
    assert kept.metadata.finalizers == ("demo.dev/greeter",)
    assert (await west.get(ConfigMap, "a")).data == {"text": "there"}
    assert fleet.cleaned == []


async def test_a_changed_kubeconfig_leads_to_another_server(cluster: InProcessCluster) -> None:
    fleet = Fleet(cluster)
    await cluster.run(fleet.manager)
    west, text = await fleet.other("west", seed=1)
    moved, other_text = await fleet.other("moved", seed=2)
    await west.create(greeter("a", "old"))
    await fleet.secret(text)
    await greeted(west, "old")
    await moved.create(greeter("a", "new"))
    await fleet.secret(other_text)
    await greeted(moved, "new")
    assert fleet.state[THERE] == ["new", *fleet.state[THERE][1:]], "what was known is forgotten"
    before = len(west.faults.seen(writes))
    await west.create(greeter("b", "later"))
    await cluster.advance(60)
    assert len(west.faults.seen(writes)) == before


async def test_a_reconcile_under_way_cannot_write_into_a_cluster_that_has_left(
    cluster: InProcessCluster,
) -> None:
    fleet = Fleet(cluster)
    await cluster.run(fleet.manager)
    west, text = await fleet.other("west", seed=1)
    await fleet.secret(text)
    await cluster.advance(5)
    west.faults.delay(3, writes)
    await west.create(greeter("a", "there"))
    await cluster.advance(1)
    await fleet.remove()
    await cluster.advance(60)
    assert await west.client.find(ConfigMap, "a", "default") is None


@pytest.mark.parametrize(
    ("field", "what"),
    [
        ("user: {exec: {command: rm, apiVersion: client.authentication.k8s.io/v1}}", "exec"),
        ("user: {tokenFile: /etc/passwd}", "tokenFile"),
        ("user: {client-key: /etc/shadow}", "client-key"),
    ],
)
async def test_what_would_start_a_program_or_read_a_file_is_refused(
    cluster: InProcessCluster, field: str, what: str
) -> None:
    fleet = Fleet(cluster)
    engine = await cluster.run(fleet.manager)
    west, text = await fleet.other("west", seed=1)
    await fleet.secret(text.replace("user: {token: 'admin'}", field))
    await cluster.advance(10)
    assert states(engine) == {WEST: ClusterState.REFUSED}
    assert await reasons(cluster) == ["KubeconfigRefused"]
    assert engine.clusters is not None
    assert what in engine.clusters.note()
    assert "/etc" not in engine.clusters.note()
    assert west.faults.seen() == []
    await fleet.secret(text)
    await cluster.advance(10)
    assert states(engine) == {WEST: ClusterState.READY}


@pytest.mark.parametrize("text", ["", "\x00", "[" * 5000, "a: &a [*a]", "x" * 300_000, "{}"])
async def test_what_is_no_kubeconfig_is_refused_and_its_text_is_shown_nowhere(
    cluster: InProcessCluster, text: str
) -> None:
    fleet = Fleet(cluster)
    engine = await cluster.run(fleet.manager)
    await fleet.secret(text)
    await cluster.advance(10)
    assert states(engine) == {WEST: ClusterState.REFUSED}


async def test_a_secret_without_the_key_is_refused_by_name(cluster: InProcessCluster) -> None:
    fleet = Fleet(cluster)
    engine = await cluster.run(fleet.manager)
    meta = ObjectMeta(name="west", namespace="fleet", labels=LABELS)
    await fleet.namespace()
    await cluster.client.apply(Secret(metadata=meta, data={"other": ""}))
    await cluster.advance(5)
    assert engine.clusters is not None
    assert "the Secret has no kubeconfig" in engine.clusters.note()


async def test_two_secrets_that_lead_to_one_server_do_not_share_its_objects(
    cluster: InProcessCluster,
) -> None:
    fleet = Fleet(cluster)
    engine = await cluster.run(fleet.manager)
    _, text = await fleet.other("west", seed=1)
    await fleet.secret(text)
    meta = ObjectMeta(name="again", namespace="fleet", labels=LABELS)
    data = {"kubeconfig": base64.b64encode(text.encode()).decode()}
    await cluster.client.apply(Secret(metadata=meta, data=data))
    await cluster.advance(10)
    assert states(engine) == {WEST: ClusterState.READY, "fleet.again": ClusterState.REFUSED}
    await fleet.remove()
    await cluster.advance(10)
    assert states(engine) == {"fleet.again": ClusterState.READY}


async def test_the_generated_role_is_enough_at_home() -> None:
    home = InProcessCluster(rbac=True)
    fleet = Fleet(home)
    await home.install(Greeter)
    await fleet.namespace()
    account = await grant(home, fleet.manager)
    west, text = await fleet.other("west", seed=1)
    await west.create(greeter("a", "there"))
    await fleet.secret(text)
    await home.run(fleet.manager, environment=home.environment(account.credentials))
    await greeted(west, "there")
    await home.advance(10)
    assert await reasons(home) == ["ClusterReady"]
    await home.close()


def test_a_selector_that_selects_nothing_is_refused() -> None:
    with pytest.raises(ConfigError, match="selects none"):
        SecretClusters(selector="")


async def test_what_fails_to_forget_does_not_keep_a_cluster(cluster: InProcessCluster) -> None:
    fleet = Fleet(cluster)
    fleet.manager.controls(Greeter, name="other").on_released(fail).reconcile(reconcile_nothing)
    engine = await cluster.run(fleet.manager)
    west, text = await fleet.other("west", seed=1)
    await west.create(greeter("a", "there"))
    await fleet.secret(text)
    await greeted(west, "there")
    await fleet.remove()
    await cluster.advance(120)
    assert states(engine) == {}
    assert engine.clusters is not None
    assert engine.clusters.engaged == {}
    await fleet.secret(text)
    await cluster.advance(10)
    assert states(engine) == {WEST: ClusterState.READY}


def fail(request: Request) -> None:
    raise RuntimeError(f"cannot forget {request}")


async def reconcile_nothing(obj: Greeter, ctx: Any) -> None: ...


async def test_administrators_may_say_that_a_kubeconfig_is_their_own(
    cluster: InProcessCluster, tmp_path: Path
) -> None:
    token = tmp_path / "token"
    token.write_text("admin")
    manager = Manager("greeter")
    manager.clusters(SecretClusters(namespaces=("fleet",), trusted=True))
    manager.controls(Greeter).owns(ConfigMap).reconcile(reconcile)
    fleet = Fleet(cluster)
    engine = await cluster.run(manager)
    west, text = await fleet.other("west", seed=1)
    await west.create(greeter("a", "there"))
    await fleet.secret(text.replace("user: {token: 'admin'}", f"user: {{tokenFile: '{token}'}}"))
    await greeted(west, "there")
    await cluster.advance(5)
    assert states(engine) == {WEST: ClusterState.READY}
