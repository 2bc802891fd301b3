"""A part of a manager that a switch turns on, with a role of its own.

    mirror = manager.part("mirror", on=options.mirror)
    mirror.keyed("mirror").watches(Node, to=...).uses(EdgeNode, "create").reconcile(...)

A part that is off is declared and does not run: its role, which grants what it needs beyond the
rest of the program, is left out of the manifests.
"""

from __future__ import annotations

import re
from typing import Any

from msgspec.structs import replace

from quintant.core.errors import ConfigError
from quintant.runtime.controller.declaration import Declaration
from quintant.runtime.manager.declarations import (
    ControllerDeclarations,
    Runnable,
    RunnableFunction,
)

# What the other roles of a manager are called, after its name.
_TAKEN = ("leader-election", "webhooks")
_NAME = re.compile("[a-z0-9]([-a-z0-9]*[a-z0-9])?")


class Part(ControllerDeclarations):
    """Controllers and runnables that are switched on and off together."""

    def __init__(self, name: str, on: bool, whole: ControllerDeclarations) -> None:
        """While it is on, what is declared in it is declared in the `whole` as well."""
        if name in _TAKEN or _NAME.fullmatch(name) is None:
            raise ConfigError(
                f"a part of a manager cannot be called {name!r}",
                because="its role is called after it, and that name is taken or not legal",
                hint='a word of a-z, 0-9 and -, such as "mirror"',
            )
        super().__init__()
        self.name = name
        self.on = on
        self._whole = whole

    def add(self, function: RunnableFunction, *, leader: bool = False) -> None:
        super().add(function, leader=leader)
        if self.on:
            self._whole.runnables.append(Runnable(function, leader))

    def register(self, declaration: Declaration[Any]) -> None:
        self._whole.check_name(declaration.name)
        super().register(replace(declaration, part=self.name))
        if self.on:
            self._whole.declarations.append(self.declarations[-1])
