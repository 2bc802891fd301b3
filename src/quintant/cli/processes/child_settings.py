"""What a child is given by its parent: one variable, and a socket that listens already.

A child runs the command line of its parent. That it is a child, it knows by the variable, which it
takes out of its environment: what it starts itself is none.
"""

from __future__ import annotations

import socket
from collections.abc import MutableMapping
from typing import Literal

import msgspec
from msgspec import Struct

from quintant.core.errors import ConfigError
from quintant.runtime.manager.environment import ChildProcess
from quintant.wire.foreign import MalformedInput, decode_json

VARIABLE = "QUINTANT_CHILD_PROCESS"


class ChildSettings(Struct, frozen=True):
    """Which child it is."""

    number: int
    """From 0; another life of it has the same."""
    identity: str
    """What it is called as a member of its shards; no other life has it."""
    descriptor: int
    """Of the socket on which its parent asks."""
    log_format: Literal["json", "console"]
    """That of its parent, which passes its lines on."""

    def encode(self) -> str:
        """The text of the variable."""
        return msgspec.json.encode(self).decode()

    def process(self) -> ChildProcess:
        """What its environment has of it; the socket is this process's alone from now on."""
        try:
            listening = socket.socket(fileno=self.descriptor)
        except OSError as error:
            raise _not_ours(str(error)) from None
        listening.set_inheritable(False)
        return ChildProcess(self.identity, listening)


def take_child_settings(environ: MutableMapping[str, str]) -> ChildSettings | None:
    """What a parent said in the environment, which says it no more; None without a parent."""
    text = environ.pop(VARIABLE, None)
    if text is None:
        return None
    try:
        return decode_json(text.encode(), ChildSettings)
    except MalformedInput as error:
        raise _not_ours(str(error)) from None


def _not_ours(why: str) -> ConfigError:
    return ConfigError(
        "this process cannot be one of several",
        because=f"{VARIABLE}, which a parent sets for its children, cannot be used: {why}",
        hint=f"unset {VARIABLE}",
    )
