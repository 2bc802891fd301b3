"""What the Dummy cloud may do badly, and which machines it has.

Both are files between this process and `inside`: it reads faults anew at every call, and writes a
ledger. The ledger knows of machines that IM forgot.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

FILE, LEDGER = "faults.json", "ledger.log"


@dataclass(frozen=True)
class DummyFaults:
    """Faults of the Dummy cloud; without any it makes every machine at once."""

    prepare_delay: float = 0
    """Seconds before IM has found out what to launch: state `pending`, no machine listed. A DELETE
    is answered with 200 then, and the machines are launched all the same."""
    launch_delay: float = 0
    """Seconds a launch takes: state `pending`, a DELETE is answered with 409."""
    launch_fail: str = ""
    """What launches fail with. An asynchronous create ends as `failed`, an update with 400."""
    address: str = "127.0.0.1"
    """Of every machine. Without one, an infrastructure becomes `unconfigured` after about 2 s."""
    state: str = ""
    """Of every machine: failed, stopped, off, unknown, pending."""
    states: Mapping[str, str] = field(default_factory=dict)
    """The same for some machines, by their numbers in IM: {"1": "failed"}."""
    unreachable: str = ""
    """What the cloud says instead of how its machines are: `unknown` after 3 s (by IM's own
    setting after 120 s), and as they were until then."""
    destroy_delay: float = 0
    """Seconds the end of a machine takes: state `deleting`."""
    destroy_fail: str = ""
    """Why machines cannot be ended. A synchronous DELETE tells; an asynchronous one is answered
    with 200, and the infrastructure stays."""

    def write(self, folder: Path) -> None:
        """Let them hold from now on; whoever reads finds the old ones or the new ones."""
        unfinished = folder / f"{FILE}.new"
        unfinished.write_text(json.dumps(asdict(self)))
        os.replace(unfinished, folder / FILE)


@dataclass(frozen=True)
class Ledger:
    """What the Dummy cloud did so far."""

    launching: frozenset[str] = frozenset()
    """Infrastructures for which a launch has begun."""
    machines: frozenset[str] = frozenset()
    """The machines that there are now, as infrastructure/number."""

    @classmethod
    def read(cls, folder: Path) -> "Ledger":
        """The ledger as it is now."""
        found: dict[str, set[str]] = {"launching": set(), "made": set(), "ended": set()}
        if (path := folder / LEDGER).exists():
            for event, what in map(str.split, path.read_text().splitlines()):
                found[event].add(what)
        return cls(frozenset(found["launching"]), frozenset(found["made"] - found["ended"]))
