"""Objects and namespaces hang in deletion for ever, and nobody says why.

The operator is gone and its finalizer stayed; or the cleanup fails silently; or two operators put
finalizers back onto each other's objects.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from quintant import Manager
from quintant.api.core import Namespace
from quintant.api.events import Event
from quintant.client.config.credentials import Credential, StaticCredential, bearer_header
from quintant.cluster.apiserver.meta.user import service_account
from quintant.cluster.apiserver.server.https import serve
from quintant.cluster.controllers import controllers
from quintant.core.errors import Terminal
from quintant.core.object import ObjectMeta, replace
from quintant.keys.sensitive import Sensitive
from quintant.runtime.reconcile.finalizer import BLOCKED, RELEASE
from quintant.runtime.source import predicates
from quintant.testing import InProcessCluster, kind, settle, verb, watch
from scenarios.finalizer_program import FINALIZER, Bucket, bucket, bucket_manager, provision

MINUTE = 60.0
QUINTANT = "from quintant.cli import main; main()"


async def broken(*_: Any) -> None:
    raise ValueError("the crane is away")


async def deleted(cluster: InProcessCluster, name: str = "a") -> Bucket:
    """Create a bucket, let it be taken hold of, and ask for its deletion."""
    await cluster.create(bucket(name))
    held = await cluster.eventually(
        Bucket, name, until=lambda obj: FINALIZER in obj.metadata.finalizers
    )
    await cluster.client.delete(held)
    return held


def blocked(obj: Bucket) -> bool:
    conditions = obj.status.conditions if obj.status else ()
    return [(c.type, c.status) for c in conditions] == [(BLOCKED, "True")]


@pytest.mark.realtime
async def test_uninstalled_programs_objects_and_namespace_are_released_by_one_command(
    cluster: InProcessCluster, tmp_path: Path
) -> None:
    await cluster.run(controllers())
    engine = await cluster.run(bucket_manager())
    await cluster.client.create(Namespace(metadata=ObjectMeta(name="harbour")))
    for name in ("a", "b"):
        await cluster.create(bucket(name, "harbour"))
        await cluster.eventually(
            Bucket, name, "harbour", until=lambda obj: bool(obj.metadata.finalizers)
        )
    await cluster.stop(engine)
    await cluster.client.delete(await cluster.client.get(Namespace, "harbour"))
    stuck = await cluster.client.get(Namespace, "harbour")
    assert stuck.deleting

    program = Path(__file__).with_name("finalizer_program.py")
    async with serve(cluster.server) as url:
        kubeconfig = write_kubeconfig(tmp_path, url)
        said = await command("finalizers", "release", program, "--yes", "--kubeconfig", kubeconfig)

    assert said.splitlines()[-1] == "released 2 objects"
    await cluster.wait_deleted(Namespace, "harbour", "")
    assert await cluster.client.list(Bucket) == []


def write_kubeconfig(folder: Path, url: str) -> Path:
    document = {
        "clusters": [{"name": "test", "cluster": {"server": url}}],
        "users": [{"name": "test", "user": {}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
        "current-context": "test",
    }
    path = folder / "kubeconfig"
    path.write_text(json.dumps(document))
    return path


async def command(*words: object) -> str:
    """What `quintant` prints, called like that in a process of its own."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", QUINTANT, *map(str, words), stdout=asyncio.subprocess.PIPE
    )
    stdout, _ = await process.communicate()
    assert process.returncode == 0
    return stdout.decode()


async def test_failing_cleanup_is_told_on_the_object_and_as_an_event_within_a_minute(
    cluster: InProcessCluster,
) -> None:
    await cluster.run(bucket_manager(broken))
    await deleted(cluster)
    obj = await cluster.eventually(Bucket, "a", until=blocked, within=MINUTE)
    await settle()

    assert obj.status is not None
    message = obj.status.conditions[0].message
    assert "the crane is away" in message
    assert f"{RELEASE}=true" in message
    (event,) = await cluster.client.list(Event, "default")
    assert (event.type, event.reason) == ("Warning", BLOCKED)


async def test_cleanup_that_gave_up_is_told_at_once(cluster: InProcessCluster) -> None:
    async def refused(*_: Any) -> None:
        raise Terminal("nobody knows this bucket")

    await cluster.run(bucket_manager(refused))
    await deleted(cluster)

    await cluster.eventually(Bucket, "a", until=blocked, within=1)


async def test_cleanup_that_never_ends_is_told_when_its_time_is_over(
    cluster: InProcessCluster,
) -> None:
    async def endless(*_: Any) -> None:
        await asyncio.Event().wait()

    await cluster.run(bucket_manager(endless))
    await deleted(cluster)

    await cluster.eventually(Bucket, "a", until=blocked, within=3 * MINUTE)


async def test_failures_before_the_deletion_do_not_delay_what_comes_after(
    cluster: InProcessCluster,
) -> None:
    await cluster.run(bucket_manager(broken, reconcile=broken))
    await cluster.create(bucket("a"))
    await cluster.advance(60 * MINUTE)
    await cluster.client.delete(await cluster.get(Bucket, "a"))

    await cluster.eventually(Bucket, "a", until=blocked, within=MINUTE)


async def test_cleanup_that_fails_otherwise_each_time_is_not_driven_by_its_own_reports(
    cluster: InProcessCluster,
) -> None:
    tries: list[int] = []

    async def moody(*_: Any) -> None:
        tries.append(1)
        raise ValueError(f"attempt {len(tries)}")

    await cluster.run(bucket_manager(moody))
    await deleted(cluster)
    await cluster.advance(60 * MINUTE)

    # Doubling from 5 ms, an hour has room for 20 tries; each report may cause one more.
    assert len(tries) < 40


@pytest.mark.parametrize("predicate", [None, predicates.generation], ids=["all", "generation"])
async def test_annotation_lets_a_blocked_object_go_at_once(
    cluster: InProcessCluster, predicate: Any
) -> None:
    await cluster.run(bucket_manager(broken, when=predicate))
    await deleted(cluster)
    obj = await cluster.eventually(Bucket, "a", until=blocked)
    await cluster.advance(10 * MINUTE)
    obj = await cluster.get(Bucket, "a")
    meta = replace(obj.metadata, annotations={RELEASE: "true"})
    await cluster.client.patch(replace(obj, metadata=meta), since=obj)

    await cluster.wait_deleted(Bucket, "a", within=1)


async def test_operator_writes_nothing_to_objects_that_another_one_holds(
    cluster: InProcessCluster,
) -> None:
    await cluster.run(
        bucket_manager(broken), environment=cluster.environment(known(cluster, "owner"))
    )
    watcher, keeper = Manager("watcher"), Manager("keeper")
    watcher.controls(Bucket).reconcile(provision)
    keeper.controls(Bucket).finalize("demo.dev/keeper", provision).reconcile(provision)
    for manager in (watcher, keeper):
        environment = cluster.environment(known(cluster, manager.name))
        await cluster.run(manager, environment=environment)
    await deleted(cluster)
    await cluster.eventually(
        Bucket, "a", until=lambda obj: obj.metadata.finalizers == (FINALIZER,), within=1
    )
    cluster.server.audit.clear()
    await cluster.advance(10 * MINUTE)

    assert written(cluster, "owner")
    assert not written(cluster, "watcher")
    assert not written(cluster, "keeper")
    assert (await cluster.get(Bucket, "a")).metadata.finalizers == (FINALIZER,)


async def test_namesake_keeps_its_finalizer_while_the_cache_still_shows_the_old_one(
    cluster: InProcessCluster,
) -> None:
    await cluster.run(bucket_manager())
    await cluster.create(bucket("a"))
    old = await cluster.eventually(Bucket, "a", until=lambda obj: bool(obj.metadata.finalizers))
    cluster.faults.lose(verb("patch") & kind(Bucket), times=1)
    await cluster.client.delete(old)
    with cluster.faults.lag(5, watch(Bucket)):
        await cluster.wait_deleted(Bucket, "a")
        meta = ObjectMeta(name="a", namespace="default", finalizers=(FINALIZER,))
        new = await cluster.create(Bucket(metadata=meta, spec=bucket("a").spec))
        await cluster.advance(MINUTE)

    assert await cluster.get(Bucket, "a") == new


def known(cluster: InProcessCluster, name: str) -> StaticCredential:
    cluster.server.tokens.add(name, service_account("default", name))
    return StaticCredential(Credential(bearer_header(Sensitive(name))))


def written(cluster: InProcessCluster, name: str) -> list[str]:
    """What a service account wrote."""
    records = cluster.server.audit.by(service_account("default", name).name)
    return [record.verb for record in records if record.verb not in ("get", "list", "watch")]
