"""What is not installed with Quintant itself: which command needs it, and how to get it.

An extra is asked for by name before anything of it is imported, so that whoever lacks it reads
three lines, and not a traceback from the middle of a module.
"""

from __future__ import annotations

from importlib.util import find_spec

EXTRAS = {
    "cosmos": ("lz4", "zstandard"),
    "devices": ("aiomqtt", "asyncua", "pymodbus"),
    "klight": ("grpc",),
}
"""Every extra of the package, and the modules that it brings."""

NEEDED_BY = {
    "klight": "klight",
    "klightpeer": "klight",
    "lightpeer": "klight",
    "mockdevice-modbus": "devices",
    "mockdevice-opcua": "devices",
    "telemetryservice": "devices",
}
"""The operators, agents and commands that need an extra, by their names."""

USED_BY = {"cosmosnode": "cosmos"}
"""Those that do most of their work without one, and name it when they lack it."""


def missing(name: str) -> str:
    """The first module that an operator, agent or command needs and does not find, or nothing."""
    modules = EXTRAS.get(NEEDED_BY.get(name, ""), ())
    return next((module for module in modules if find_spec(module) is None), "")


def require(*names: str) -> None:
    """Fail unless everything these operators, agents or commands need is installed."""
    # Programs of pods ask what is missing, and load nothing of the runtime for it.
    from quintant.core.errors import ConfigError

    for name in names:
        if module := missing(name):
            raise ConfigError(
                f"cannot run {name}",
                because=f"it needs the module {module}, which is not installed",
                hint=f"pip install 'quintant[{NEEDED_BY[name]}]'",
            )
