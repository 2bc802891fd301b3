"""Definitions of another version or of another program are noticed, and statuses written anyway."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from structlog.testing import capture_logs

from quintant.core.errors import ConfigError
from quintant.core.object import Custom, Model
from quintant.core.resource import resource
from quintant.core.schema.markers import list_map
from quintant.runtime.manager.crd_check import check_crds, missing_fields
from quintant.runtime.manager.install_crds import install_crds
from quintant.testing import InProcessCluster, named


class Part(Model):
    name: str
    url: str = ""


class OldPart(Model):
    name: str


class Spec(Model):
    text: str = ""


class Status(Model):
    phase: str = ""
    seen: int | None = None
    parts: Annotated[tuple[Part, ...], list_map("name")] = ()


class OldStatus(Model):
    phase: str = ""
    parts: Annotated[tuple[OldPart, ...], list_map("name")] = ()


@resource(group="check.demo.dev", version="v1", status=True)
class Kite(Custom[Spec, Status]):
    """As this program knows it."""


@resource(group="check.demo.dev", version="v1", kind="Kite", status=True)
class OldKite(Custom[Spec, OldStatus]):
    """As an earlier version installed it."""


@resource(group="check.demo.dev", version="v1", kind="Kite", status=True, namespaced=False)
class WideKite(Custom[Spec, Status]):
    """As another program installed it."""


STATUS = Status(phase="Up", seen=3, parts=(Part(name="a", url="u"),))


async def warnings(cluster: InProcessCluster, kind: type[Any] = Kite) -> list[str]:
    with capture_logs() as said:
        await check_crds(cluster.client, [kind])
    return [each["event"] for each in said]


async def test_nothing_is_said_of_the_definitions_of_this_version(
    cluster: InProcessCluster,
) -> None:
    assert await warnings(cluster) == [], "not installed yet: the caches wait for it"
    await install_crds(cluster.admin, [Kite])
    assert await warnings(cluster) == []


async def test_fields_that_an_older_definition_lacks_are_named_with_what_to_do(
    cluster: InProcessCluster,
) -> None:
    await install_crds(cluster.admin, [OldKite])
    (said,) = await warnings(cluster)
    what, because, hint = said.splitlines()
    assert "kites.check.demo.dev" in what
    assert ".status.parts.url, .status.seen" in because
    assert hint.startswith("try: ")


async def test_another_scope_ends_the_program_with_what_to_do(cluster: InProcessCluster) -> None:
    await install_crds(cluster.admin, [WideKite])
    with pytest.raises(ConfigError) as refused:
        await check_crds(cluster.client, [Kite])
    _, because, hint = str(refused.value).splitlines()
    assert because.startswith("because: its scope is Cluster, this version's is Namespaced")
    assert "docs/upgrading.md" in hint


async def test_a_status_is_written_without_what_the_definition_lacks(
    cluster: InProcessCluster,
) -> None:
    await install_crds(cluster.admin, [OldKite])
    kite = await cluster.client.create(Kite(metadata=named("a"), spec=Spec()))
    written = await cluster.client.set_status(kite, STATUS)
    assert written.status == Status(phase="Up", parts=(Part(name="a"),))
    again = await cluster.client.set_status(written, STATUS)
    assert again.metadata.resource_version == written.metadata.resource_version
    down = await cluster.client.set_status(again, Status(phase="Down", seen=4))
    assert down.status == Status(phase="Down")


def test_open_parts_of_a_schema_lack_nothing() -> None:
    wanted: dict[str, Any] = {"properties": {"spec": {"properties": {"a": {}, "b": {}}}}}
    assert missing_fields(wanted, {"properties": {"spec": {"properties": {"a": {}}}}}) == [
        ".spec.b"
    ]
    open_schema = {"x-kubernetes-preserve-unknown-fields": True}
    assert missing_fields(wanted, {"properties": {"spec": open_schema}}) == []
    assert missing_fields(wanted, {"properties": {}}) == [".spec"]


@pytest.mark.parametrize("odd", [None, [], "text", {"spec": None}, {"spec": []}])
def test_a_schema_of_another_form_lacks_what_it_does_not_have(odd: Any) -> None:
    wanted: dict[str, Any] = {"properties": {"spec": {"properties": {"a": {}}}}}
    assert missing_fields(wanted, {"properties": odd}) == [".spec"]
