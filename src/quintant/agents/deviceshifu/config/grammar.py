"""From the texts of a ConfigMap to what they say. Pure; nothing in it makes the agent fail.

A section that cannot be understood is off, and only that one. A key that nobody knows, and a value
that is no number, is told and passed over. Names of instructions may have slashes; one that could
lead out of the device's own paths, or break a line, is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from quintant.agents.deviceshifu.config.names import LONGEST_NAME, refusal
from quintant.agents.deviceshifu.config.telemetries import number, telemetries, unknown
from quintant.agents.deviceshifu.config.values import ConfigProblem, DeviceConfig, Instruction
from quintant.agents.deviceshifu.config.yaml_text import (
    SectionError,
    load_text,
    mapping,
    scalar,
)

Tell = Callable[[str], None]
MOST_INSTRUCTIONS = 10_000
_SETTINGS = ("defaultTimeoutSeconds", "enforceReadWrite")
_INSTRUCTION = ("protocolPropertyList", "gatewayPropertyList", "description", "readWrite")
_DRIVER = ("driverSku", "driverImage", "driverExecution")
_LATER = ("customInstructionsPython", "customized_handlers.py")
_TRUE = ("true", "True", "yes", "on", "1")


def understand(data: Mapping[str, str]) -> tuple[DeviceConfig, tuple[ConfigProblem, ...]]:
    """What a ConfigMap says, and what is wrong with it."""
    config, problems = DeviceConfig(), list[ConfigProblem]()
    for section, read in _SECTIONS.items():
        if section not in data:
            continue
        tell = _teller(section, problems)
        try:
            config = read(config, load_text(data[section]), tell)
        except SectionError as error:
            problems.append(ConfigProblem(section, str(error), off=True))
    for name in sorted(data.keys() - _SECTIONS.keys()):
        text = "is not served" if name in _LATER else "is no section that anybody knows"
        problems.append(ConfigProblem(name[:LONGEST_NAME], text))
    return config, tuple(problems)


def _instructions(config: DeviceConfig, document: Any, tell: Tell) -> DeviceConfig:
    whole = mapping(document, "instructions")
    flat = not whole.keys() & {"instructions", "instructionSettings"}
    listed = whole if flat else mapping(whole.get("instructions"), "instructions")
    settings = {} if flat else mapping(whole.get("instructionSettings"), "instructionSettings")
    if not flat:
        unknown(whole, ("instructions", "instructionSettings"), tell)
    unknown(settings, _SETTINGS, tell)
    instructions: dict[str, Instruction] = {}
    for name, value in listed.items():
        if why := refusal(name) or _too_many(instructions):
            tell(f"instruction {name[:40]!r} is left out: {why}")
            continue
        instructions[name] = _instruction(name, value, tell)
    return replace(
        config,
        instructions=instructions,
        timeout=int(number(settings, "defaultTimeoutSeconds", config.timeout, tell)),
        enforce_read_write=scalar(settings.get("enforceReadWrite"), "enforceReadWrite") in _TRUE,
    )


def _instruction(name: str, value: Any, tell: Tell) -> Instruction:
    fields = mapping(value, f"instruction {name}")
    unknown(fields, _INSTRUCTION, tell)
    listed = mapping(fields.get("protocolPropertyList"), f"protocolPropertyList of {name}")
    properties = {key: scalar(each, f"{key} of {name}") or "" for key, each in listed.items()}
    texts = {key: scalar(fields.get(key), key) or "" for key in ("description", "readWrite")}
    return Instruction(name, properties, texts["description"], texts["readWrite"])


def _too_many(instructions: Mapping[str, Instruction]) -> str:
    return "" if len(instructions) < MOST_INSTRUCTIONS else f"more than {MOST_INSTRUCTIONS}"


def _control(config: DeviceConfig, document: Any, tell: Tell) -> DeviceConfig:
    listed = mapping(document, "controlMsgs")
    return replace(
        config, control={key: scalar(each, key) or "" for key, each in listed.items() if key}
    )


def _driver(config: DeviceConfig, document: Any, tell: Tell) -> DeviceConfig:
    unknown(mapping(document, "driverProperties"), _DRIVER, tell)
    return config


_SECTIONS: dict[str, Callable[[DeviceConfig, Any, Tell], DeviceConfig]] = {
    "driverProperties": _driver,
    "instructions": _instructions,
    "telemetries": telemetries,
    "controlMsgs": _control,
}


def _teller(section: str, problems: list[ConfigProblem]) -> Tell:
    return lambda text: problems.append(ConfigProblem(section, text))
