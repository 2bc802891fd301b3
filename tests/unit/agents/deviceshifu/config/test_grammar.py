"""What a ConfigMap of instructions says, and what is made of one that is broken."""

from __future__ import annotations

import pytest

from quintant.agents.deviceshifu.config.grammar import understand
from quintant.agents.deviceshifu.config.values import DeviceConfig

WHOLE = {
    "driverProperties": "driverSku: PLC\ndriverImage: plc:v1\ndriverExecution: ' '\n",
    "instructions": """
instructionSettings:
  defaultTimeoutSeconds: 8
instructions:
  read_value:
  move/up:
    protocolPropertyList:
      MQTTTopic: /a/b
      EnableObserve: false
      Address: 0x10
    description: up
    readWrite: W
""",
    "telemetries": """
telemetrySettings:
  telemetryUpdateIntervalInMiliseconds: 5000
  telemetryTimeoutInMilliseconds: 0
  defaultPushToServer: true
  defaultTelemetryCollectionService: push
telemetries:
  device_health:
    properties:
      instruction: get_status
      initialDelayMs: 1000
      intervalMs: 250
  quiet:
    properties:
      instruction: read_value
      pushSettings:
        pushToServer: false
  none:
    properties:
""",
    "controlMsgs": "start: done\n",
}


def test_a_whole_config_map_is_understood() -> None:
    config, problems = understand(WHOLE)
    assert problems == ()
    assert list(config.instructions) == ["read_value", "move/up"]
    assert config.instructions["move/up"].properties == {
        "MQTTTopic": "/a/b", "EnableObserve": "false", "Address": "0x10",
    }  # fmt: skip
    assert (config.timeout, config.reading_timeout, config.interval) == (8, None, 5.0)
    assert [(each.name, each.instruction, each.delay, each.interval, each.service)
            for each in config.telemetries] == [
        ("device_health", "get_status", 1.0, 0.25, "push"),
        ("quiet", "read_value", 3.0, 5.0, ""),
        ("none", "", 3.0, 5.0, "push"),
    ]  # fmt: skip
    assert config.control == {"start": "done"}


def test_an_empty_config_map_has_the_usual_values() -> None:
    config, problems = understand({})
    assert (config, problems) == (DeviceConfig(), ())
    assert understand({"instructions": "", "telemetries": "~"}) == (DeviceConfig(), ())


def test_words_that_yaml_takes_for_more_are_names() -> None:
    config, problems = understand(
        {"instructions": "instructions:\n  on:\n  off:\n  1e3:\n  null:\n"}
    )
    assert list(config.instructions) == ["on", "off", "1e3", "null"]
    assert problems == ()


def test_the_old_flat_form_is_understood() -> None:
    config, problems = understand({"instructions": "get_status:\nread:\n", "telemetries": "t:\n"})
    assert list(config.instructions) == ["get_status", "read"]
    assert [each.name for each in config.telemetries] == ["t"]
    assert problems == ()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "no YAML"),
        ("- a\n- b\n", "no mapping"),
        ("instructions: [a]", "no mapping"),
        ("instructions:\n  a: [1]\n", "no mapping"),
        ("instructions:\n  a:\n    description: {b: c}\n", "no single value"),
        ("instructions:\n  ? [a]\n  : b\n", "no"),
        ("[" * 5000, "nested deeper"),
        ("[" * 100_000, "nested deeper"),
        ("a: \x00", "no YAML"),
    ],
)
def test_a_broken_section_is_off_and_only_that_one(text: str, why: str) -> None:
    config, problems = understand({**WHOLE, "instructions": text})
    assert config.instructions == {}
    assert len(config.telemetries) == 3
    [problem] = problems
    assert problem.off
    assert problem.section == "instructions"
    assert why in str(problem)


def test_unknown_keys_are_told_and_passed_over() -> None:
    config, problems = understand(
        {"instructions": "instructions:\n  a:\n    colour: red\nbogus: 1\n", "other": "x"}
    )
    assert list(config.instructions) == ["a"]
    said = "\n".join(map(str, problems))
    assert "'colour' is unknown" in said
    assert "'bogus' is unknown" in said
    assert "other: is no section" in said
    assert not any(each.off for each in problems)


@pytest.mark.parametrize(
    "name", ["../etc", "a/../b", "/a", "a//b", ".", '"a\\nb"', '"a\\0"', "x" * 300]
)
def test_names_that_lead_elsewhere_or_break_a_line_are_refused(name: str) -> None:
    config, problems = understand({"instructions": f"instructions:\n  {name}:\n  good:\n"})
    assert list(config.instructions) == ["good"]
    assert "left out" in str(problems[0])
    config, problems = understand(
        {"telemetries": f"telemetries:\n  t:\n    properties:\n      instruction: {name}\n"}
    )
    assert [each.instruction for each in config.telemetries] == [""]


@pytest.mark.parametrize("value", ["soon", "nan", "inf", "1e999"])
def test_what_is_no_number_means_the_usual_one(value: str) -> None:
    config, problems = understand(
        {"instructions": f"instructionSettings:\n  defaultTimeoutSeconds: {value}\n"}
    )
    assert config.timeout == 3
    assert "is no number" in str(problems[0])


def test_an_alias_bomb_costs_nothing() -> None:
    lines = ["a0: &a0 {x: y}"]
    lines += [f"a{i}: &a{i} {{b: *a{i - 1}, c: *a{i - 1}}}" for i in range(1, 60)]
    config, problems = understand({"instructions": "instructions:\n  " + "\n  ".join(lines)})
    assert "more than 100000 values" in str(problems)
    assert config.instructions == {}
