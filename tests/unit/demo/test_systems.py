"""Which systems the demo shows, and with what."""

from __future__ import annotations

import pytest

from quintant.cluster.kubelet.container.images import ImageProgram
from quintant.core.errors import ConfigError
from quintant.demo.systems import systems

COMETBFT = ImageProgram(image="cometbft/cometbft", command="cometbft", argv=("/bin/cometbft",))
OTHER = ImageProgram(image="busybox", command="*")


def kinds(*images: ImageProgram) -> list[str]:
    (system,) = systems(["cosmos"], images)
    return [manifest["kind"] for manifest in system.sample.manifests]


def test_what_is_simulated_is_real_where_the_table_has_its_program() -> None:
    assert kinds() == kinds(OTHER) == ["CosmosFullNode", "ScheduledVolumeSnapshot"]
    assert "StatefulSet" in kinds(OTHER, COMETBFT)  # the validator of the example


def test_a_name_that_is_no_systems_is_told() -> None:
    with pytest.raises(ConfigError, match="there is no system 'comos'"):
        systems(["comos"])
