"""A definition with several versions names the webhook that converts them, or is not printed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from quintant import Context, Manager
from quintant.api.apiextensions import CustomResourceDefinition
from quintant.cli import main
from quintant.core.codec import from_plain
from quintant.core.errors import ApiError, ConfigError
from quintant.core.object import Custom, Model, ObjectMeta
from quintant.core.resource import resource
from quintant.runtime.manager.install_crds import install_manager_crds
from quintant.runtime.manager.manifests import install_manifests
from quintant.runtime.webhook import Plain, Spoke
from quintant.testing import InProcessCluster


class Sized(Model):
    size: int = 0


class Replicated(Model):
    replicas: int = 0


@resource(group="ships.dev", version="v1alpha1", kind="Fleet", plural="fleets", storage=False)
class OldFleet(Custom[Sized, None]): ...


@resource(group="ships.dev", version="v1")
class Fleet(Custom[Replicated, None]): ...


def _up(obj: Plain) -> Plain:
    obj["spec"] = {"replicas": obj["spec"].get("size", 0)}
    return obj


def _down(obj: Plain) -> Plain:
    obj["spec"] = {"size": obj["spec"].get("replicas", 0)}
    return obj


async def _nothing(obj: Fleet, ctx: Context[Fleet]) -> None:
    """A reconciler that finds everything in order."""


def _manager(old: type[OldFleet] | None = OldFleet) -> Manager:
    manager = Manager("ships")
    manager.controls(Fleet).reconcile(_nothing)
    manager.webhooks.converting(Fleet, {"v1alpha1": Spoke(_up, _down, kind=old)})
    return manager


def _conversion(definition: Any) -> Any:
    return definition["spec"]["conversion"]


def test_definition_of_a_converted_kind_names_the_webhook_that_converts() -> None:
    (definition,) = install_manifests(_manager(), "home")["crds"]
    assert [version["name"] for version in definition["spec"]["versions"]] == ["v1", "v1alpha1"]
    conversion = _conversion(definition)
    service = {"name": "ships", "namespace": "home", "path": "/convert", "port": 443}
    assert conversion["strategy"] == "Webhook"
    assert conversion["webhook"]["clientConfig"]["service"].items() <= service.items()
    assert conversion["webhook"]["conversionReviewVersions"] == ["v1"]


def test_definition_that_would_take_a_converted_version_away_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"v1alpha1(.|\n)*kind="):
        install_manifests(_manager(old=None), "home")


async def test_definition_is_installed_with_its_conversion_from_the_first_moment(
    cluster: InProcessCluster,
) -> None:
    await install_manager_crds(cluster.admin, _manager(), "home")
    found = await cluster.get(CustomResourceDefinition, "fleets.ships.dev", "")
    assert found.spec.conversion is not None
    assert b'"Webhook"' in found.spec.conversion.raw


async def test_definition_is_installed_again_when_the_webhook_has_moved(
    cluster: InProcessCluster,
) -> None:
    manager = _manager()
    await install_manager_crds(cluster.admin, manager, "home")
    manager.configure(webhook_url="https://127.0.0.1:9443")
    await install_manager_crds(cluster.admin, manager, "home")
    await install_manager_crds(cluster.admin, manager, "home")
    found = await cluster.get(CustomResourceDefinition, "fleets.ships.dev", "")
    assert found.spec.conversion is not None
    assert b"127.0.0.1:9443/convert" in found.spec.conversion.raw
    assert b"service" not in found.spec.conversion.raw


PROGRAM = """
from quintant import Manager
from quintant.core.object import Custom, Model, ObjectMeta
from quintant.core.resource import resource
from quintant.runtime.webhook import Spoke

class Spec(Model):
    size: int = 0

@resource(group="ships.dev", version="v1alpha1", kind="Boat", plural="boats", storage=False)
class OldBoat(Custom[Spec, None]): ...

@resource(group="ships.dev", version="v1")
class Boat(Custom[Spec, None]): ...

manager = Manager("boats")
manager.webhooks.converting(Boat, {"v1alpha1": Spoke(dict, dict, kind=OldBoat)})
"""


def test_crd_alone_of_a_converted_kind_is_not_printed_without_its_conversion(
    tmp_path: Path,
) -> None:
    path = tmp_path / "boats.py"
    path.write_text(PROGRAM)
    refused = CliRunner().invoke(main, ["crd", str(path)])
    assert refused.exit_code == 1
    assert "quintant manifests" in refused.output
    assert "versions:" not in refused.output
    printed = CliRunner().invoke(main, ["manifests", str(path), "-n", "home"])
    assert "strategy: Webhook" in printed.output


async def test_object_of_the_old_version_is_never_stored_without_its_contents(
    cluster: InProcessCluster,
) -> None:
    for definition in install_manifests(_manager(), "default")["crds"]:
        await cluster.client.apply(from_plain(CustomResourceDefinition, definition))
    old = OldFleet(metadata=ObjectMeta(name="north", namespace="default"), spec=Sized(size=3))
    with pytest.raises(ApiError, match="conversion webhook"):
        await cluster.client.create(old)
    await cluster.run(_manager())
    await cluster.client.create(old)
    assert (await cluster.get(Fleet, "north")).spec == Replicated(replicas=3)
