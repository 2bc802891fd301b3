"""Definitions on a server: served when the call returns, and a clear word when they are not."""

from __future__ import annotations

import pytest

from quintant.api.apiextensions import CustomResourceDefinition
from quintant.core.errors import ConfigError, ConnectError
from quintant.core.object import Custom, Model
from quintant.core.resource import resource
from quintant.runtime.manager.install_crds import ESTABLISH_SECONDS, install_crds
from quintant.testing import FaultTransport, InProcessCluster, writes


class Spec(Model):
    text: str = ""


@resource(group="demo.dev", version="v1")
class Kite(Custom[Spec, Spec]): ...


@resource(group="demo.dev", version="v1")
class Lamp(Custom[Spec, Spec]): ...


@resource(group="demo.dev", version="v1", kind="Kite", plural="dragons")
class Dragon(Custom[Spec, Spec]):
    """Another definition that claims the same kind."""


async def test_installed_kinds_are_served_on_return(cluster: InProcessCluster) -> None:
    await install_crds(cluster.admin, [Kite, Lamp, CustomResourceDefinition])
    assert not await cluster.client.list(Kite)
    assert not await cluster.client.list(Lamp)


async def test_server_that_cannot_be_reached_is_one_error_for_all_kinds(
    cluster: InProcessCluster,
) -> None:
    transport = FaultTransport(cluster.admin)
    transport.refuse(writes)
    with pytest.raises(ConnectError):
        await install_crds(transport, [Kite, Lamp])


async def test_definition_that_is_not_accepted_is_named(cluster: InProcessCluster) -> None:
    await install_crds(cluster.admin, [Kite])
    with pytest.raises(ConfigError, match=f"dragons.demo.dev\n.*{ESTABLISH_SECONDS:g} s"):
        await install_crds(cluster.admin, [Dragon])
