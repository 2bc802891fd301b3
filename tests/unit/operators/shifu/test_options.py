"""Settings from the environment."""

from __future__ import annotations

import pytest

from quintant.core.errors import ConfigError
from quintant.core.options import from_environment
from quintant.operators.shifu.options import Options


def test_without_settings_there_are_defaults() -> None:
    assert from_environment(Options, {}) == Options()
    assert Options().settings["rate"] == 50.0
    assert Options().agent.command == ("quintant", "agent", "deviceshifu")


def test_settings_are_understood() -> None:
    found = from_environment(
        Options,
        {
            "COLLECT_PERIOD": "5s", "MOVE_MARGIN_BYTES": "1Gi", "RESCHEDULE": "evacuate-only",
            "DEVICE_NAMESPACES": "a, b", "AGENT_IMAGE": "example.dev/agent:1", "MOVE_SIGMA": "1.5",
        },
    )  # fmt: skip
    assert found.collect_period == 5.0
    assert found.move_limits.margin_bytes == 2**30
    assert found.device_namespaces == ("a", "b")
    assert found.agent.command == ()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("COLLECT_PERIOD", "0"),
        ("NODE_LOST_AFTER", "500ms"),
        ("MOVE_MARGIN_BYTES", "lots"),
        ("MOVE_MARGIN", "-1"),
        ("MOVE_SIGMA", "nan"),
        ("RESCHEDULE", "maybe"),
        ("SERVICE_TYPE", "ExternalName"),
        ("WRITE_QPS", "0"),
        ("CRD_FLAVOR", "theirs"),
        ("EDGENODE_MIRROR", "perhaps"),
    ],
)
def test_nonsense_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=name):
        from_environment(Options, {name: value})


@pytest.mark.parametrize("text", ["*", "evil*", "a b", "x/*/y", "../x", "x/**"])
def test_images_are_allowed_by_names_and_not_by_half_of_one(text: str) -> None:
    with pytest.raises(ConfigError, match="ALLOWED_IMAGES"):
        from_environment(Options, {"ALLOWED_IMAGES": text})


def test_images_are_read_by_commas() -> None:
    found = from_environment(Options, {"ALLOWED_IMAGES": "edgehub/*, example.dev/plc:1"})
    assert found.allowed_images == ("edgehub/*", "example.dev/plc:1")
