"""What an Infrastructure Manager in memory keeps, and what goes wrong with it.

`provider` has what is done with it, `provider_access` how it is asked.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class ProviderFaults:
    """What goes wrong, and how long things take; tests set it at any time. Times are seconds."""

    prepare: float = 1.0
    """Until a creation lists its first machine."""
    launch: float = 1.0
    """Until a machine is launched; each after the other."""
    configure: float = 2.0
    finalize: float = 1.0
    launch_fail: str = ""
    no_address: bool = False
    """Machines get no address: `configured` for a moment, then `unconfigured`."""
    machine_state: str = ""
    """What every machine is said to be."""
    finalize_fail: str = ""
    down: bool = False
    page: tuple[int, bytes] | None = None
    """What a proxy answers to everything."""
    password: str = ""
    """The only password that the provider takes; empty takes any."""
    cloud_password: str = ""
    cloud_unreached: str = ""
    """What the provider says of a cloud that it does not reach."""
    disabled: bool = False
    plan_fail: tuple[int, str] | None = None
    outputs_missing: bool = False
    ghosts: int = 0
    """Deletions after which it is there again, without machines: its state was read as it went."""
    wrong_id: str = ""
    """What the next creation is answered with, whatever was made."""
    lost_answers: int = 0
    """Creations that are carried out, and whose answers are lost."""


@dataclass
class ModelledMachine:
    """A machine in the cloud; it may be there though nobody lists it."""

    id: str
    node: str
    state: str = "pending"
    infrastructure: str = ""
    listed: bool = True


@dataclass
class ModelledInfrastructure:
    """What the provider keeps of a request to create."""

    id: str
    owner: str
    template: dict[str, Any]
    name: str
    machines: dict[str, ModelledMachine] = field(default_factory=dict)
    launching: int = 0
    configured: bool | None = None
    deleting: bool = False
    template_lost: bool = False
    log: str = ""
    next_machine: int = 0
    dead: bool = False
    """Whether the provider's own thread for it is no more."""
