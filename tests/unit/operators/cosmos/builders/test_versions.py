"""The next version comes when the node is done with the last, and not a block before."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.operators.cosmos.api.chain import ChainVersion
from quintant.operators.cosmos.builders.versions import (
    NodeProgress,
    is_halted,
    resolve_version,
    uncovered_height,
    version_height,
)

VERSIONS = tuple(
    ChainVersion(height=height, image=image)
    for height, image in ((0, "v1"), (100, "v2"), (300, "v3"), (400, "v4"))
)


@pytest.mark.parametrize(
    ("height", "image"), [(0, "v1"), (99, "v1"), (100, "v2"), (299, "v2"), (350, "v3"), (999, "v4")]
)
def test_a_height_has_a_version(height: int, image: str) -> None:
    found = resolve_version(VERSIONS, height)
    assert found is not None
    assert found.image == image


def test_below_the_first_there_is_none() -> None:
    assert resolve_version(VERSIONS[1:], 5) is None


def chosen(grace: float | None = None, **seen: Any) -> str:
    node = NodeProgress(**{"image": "v1", **seen})
    found = resolve_version(VERSIONS, version_height(VERSIONS, node, grace))
    assert found is not None
    return found.image


def test_a_node_that_has_not_written_the_upgrade_keeps_its_version() -> None:
    assert chosen(height=100, latest=99) == "v1"
    assert chosen(height=101, latest=100) == "v1"
    assert chosen(height=100, latest=99, upgrade_height=50) == "v1"


def test_a_node_that_halted_exited_or_went_on_gets_the_next() -> None:
    assert chosen(height=101, latest=100, upgrade_height=100) == "v2"
    assert chosen(height=100, unreachable=True) == "v2"
    assert chosen(height=105, latest=104) == "v2"


def test_a_silent_node_that_was_not_asked_often_keeps_its_version() -> None:
    assert chosen(height=100) == "v1"


def test_a_chain_that_stands_still_is_waited_for_as_long_as_the_user_says() -> None:
    assert chosen(height=100, latest=99, stalled_seconds=500.0) == "v1"
    assert chosen(15.0, height=100, latest=99, stalled_seconds=14.0) == "v1"
    assert chosen(15.0, height=100, latest=99, stalled_seconds=15.0) == "v2"
    assert chosen(15.0, height=101, latest=100, stalled_seconds=15.0) == "v2"


def test_a_version_that_halts_the_node_itself_is_not_waited_for() -> None:
    table = (VERSIONS[0], ChainVersion(height=100, image="v2", set_halt_height=True))
    node = NodeProgress(height=100, latest=99, image="v1")
    assert version_height(table, node, None) == 100


def test_a_pod_that_is_not_there_gets_the_version_of_its_height() -> None:
    assert chosen(height=100, image="") == "v2"


def test_an_image_that_is_no_version_is_replaced_as_any_other() -> None:
    assert chosen(height=350, latest=349, image="v4") == "v3"
    assert chosen(height=100, latest=99, image="mine") == "v2"


def test_a_node_at_its_upgrade_is_halted_until_it_has_the_version() -> None:
    def halted(**seen: Any) -> bool:
        return is_halted(VERSIONS, NodeProgress(**{"image": "v1", **seen}))

    assert halted(height=101, latest=100, upgrade_height=100)
    assert not halted(height=101, latest=100, upgrade_height=100, image="v2")
    assert not halted(height=130, latest=129, upgrade_height=100)
    assert not halted(height=100, latest=99)


def test_a_node_at_an_upgrade_that_no_version_covers_is_halted() -> None:
    def stands(**seen: Any) -> int:
        return uncovered_height(VERSIONS, NodeProgress(**{"image": "v2", **seen}))

    assert stands(height=151, latest=150, upgrade_height=150) == 150
    assert stands(height=151, upgrade_height=150) == 150
    assert is_halted(VERSIONS, NodeProgress(height=151, upgrade_height=150, image="v2"))
    assert not stands(height=101, latest=100, upgrade_height=100)
    assert not stands(height=152, latest=151, upgrade_height=150)
    assert not stands(height=120, latest=119, upgrade_height=150)
    assert not stands(height=0, upgrade_height=150)


def test_an_announced_upgrade_halts_a_node_only_if_the_chain_stands_there() -> None:
    def stands(seconds: float, latest: int) -> int:
        told = {"height": latest + 1, "latest": latest, "planned_height": 150, "image": "v2"}
        return uncovered_height(VERSIONS, NodeProgress(**told, stalled_seconds=seconds))  # type: ignore[arg-type]

    assert stands(61, 150) == stands(61, 149) == 150
    assert not stands(10, 150)
    assert not stands(600, 140)
