"""What a ConfigMap of instructions says, once understood. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

TIMEOUT_SECONDS = 3
INTERVAL_SECONDS = 1.0
DELAY_SECONDS = 3.0
READING_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Instruction:
    """Something that can be asked of the device."""

    name: str
    properties: Mapping[str, str] = field(default_factory=dict)
    """What the protocol needs: MQTTTopic, OPCUANodeID, ModbusAddress and so on."""
    description: str = ""
    read_write: str = ""


@dataclass(frozen=True, slots=True)
class Telemetry:
    """Something that is read again and again. Times are seconds."""

    name: str
    instruction: str = ""
    delay: float = DELAY_SECONDS
    interval: float = INTERVAL_SECONDS
    service: str = ""
    """The TelemetryService that each reading is sent to; empty is none."""


@dataclass(frozen=True, slots=True)
class DeviceConfig:
    """A whole ConfigMap."""

    instructions: Mapping[str, Instruction] = field(default_factory=dict)
    timeout: int = TIMEOUT_SECONDS
    """Seconds for an instruction whose caller says nothing else; 0 and less is for ever."""
    enforce_read_write: bool = False
    telemetries: tuple[Telemetry, ...] = ()
    reading_timeout: float | None = READING_SECONDS
    interval: float = INTERVAL_SECONDS
    control: Mapping[str, str] = field(default_factory=dict)
    """Messages that block a device, each with the text that tells of its end (MQTT)."""


@dataclass(frozen=True, slots=True)
class ConfigProblem:
    """Something in a ConfigMap that is not as it should be."""

    section: str
    text: str
    off: bool = False
    """Whether all of the section is left out for it."""

    def __str__(self) -> str:
        end = "; this section is off" if self.off else ""
        return f"{self.section}: {self.text}{end}"
