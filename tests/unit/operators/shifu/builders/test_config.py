"""Which ConfigMap has a device's instructions."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from quintant.core.object import ObjectMeta
from quintant.operators.shifu.api.device import EdgeDevice, EdgeDeviceSpec
from quintant.operators.shifu.builders.config import config_hash, driver_image, generated_config
from quintant.operators.shifu.observed.config import find_config
from quintant.operators.shifu.observed.views import ShifuConfig
from quintant.operators.shifu.rules.config_names import config_words, wanted_words
from quintant.operators.shifu.rules.hints import Hints


def device(name: str = "edgedevice-agv", **spec: Any) -> EdgeDevice:
    meta = ObjectMeta(name=name, namespace="devices", uid="u1")
    return EdgeDevice(metadata=meta, spec=EdgeDeviceSpec(**spec))


def config(name: str, labelled: str = "", **more: bool) -> ShifuConfig:
    given = {"instructions": True, **more}
    return ShifuConfig(metadata=ObjectMeta(name=name), labelled=labelled, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("short", "name"),
    [
        ("agv", "agv-configmap-0.0.1"),
        ("lwm2m", "deviceshifu-lwm2m"),
        ("thermometer", "thermometer-configmap"),
        ("robot-arm", "deviceshifu-robot-arm-configmap"),
        ("configmap", "configmap"),
    ],
)
def test_names_of_upstreams_samples_are_found(short: str, name: str) -> None:
    wanted = device(f"edgedevice-{short}")
    assert wanted_words(wanted, Hints()) & set(config_words(name))
    assert find_config(wanted, Hints(), [config(name)]) == config(name)


def test_what_a_device_names_wins_then_a_label_then_the_highest_version() -> None:
    named, labelled = config("named"), config("other", labelled="edgedevice-agv")
    old, new = config("agv-configmap-0.0.9"), config("agv-configmap-0.0.10")
    every = [old, new, labelled, named]
    assert find_config(device(), Hints(config_map="named"), every) is named
    assert find_config(device(), Hints(), every) is labelled
    assert find_config(device(), Hints(), [old, new, named]) is new
    assert find_config(device(), Hints(config_map="absent"), every) is None


def test_a_configmap_without_instructions_is_none() -> None:
    assert find_config(device(), Hints(), [config("agv-configmap", instructions=False)]) is None
    theirs = config("agv-configmap", instructions=False, driver=True)
    assert find_config(device(), Hints(), [theirs]) is theirs


@pytest.mark.parametrize(
    ("section", "image"),
    [
        ("driverSku: x\ndriverImage: example.dev/plc:1\n", "example.dev/plc:1"),
        ('driverImage: "quoted:1"', "quoted:1"),
        ("driverImage: defaultImage", ""),
        ("driverImage:", ""),
        ("noDriverImage: x", ""),
        ("driverImage: " + "x" * 600, ""),
        ("{", ""),
        ("", ""),
    ],
)
def test_a_driver_of_the_users_own(section: str, image: str) -> None:
    assert driver_image({"driverProperties": section}) == image


def test_a_hash_changes_with_what_a_driver_depends_on() -> None:
    first = config_hash(device(), {"a": "1"})
    assert first == config_hash(device(sku="other"), {"a": "1"})
    assert first != config_hash(device(), {"a": "2"})
    assert first != config_hash(device(address="x"), {"a": "1"})


def test_a_generated_one_is_yaml_that_means_what_it_says() -> None:
    made = generated_config(device(sku="on: off"), "deviceshifu")
    assert msgspec.json.decode(made.data["driverProperties"]) == {"driverSku": "on: off"}
    assert "instructions" not in made.data
