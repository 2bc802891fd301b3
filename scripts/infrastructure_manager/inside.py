"""Runs Infrastructure Manager, in whose own environment this script is started; ours never is.

    inside.py FOLDER PORT [NAME=VALUE ...]

Everything it keeps is in the folder; it listens on loopback; names are those of its settings. They
have to be set before its service is loaded, which reads them at that moment. The timers of IM suit
real clouds, so those of a test are shorter. The Dummy cloud reads its faults from the folder, and
writes down there which machines it made and ended.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

FAULTS, LEDGER = "faults.json", "ledger.log"
SETTINGS: dict[str, object] = {
    "REST_ADDRESS": "127.0.0.1",
    "LOG_LEVEL": "INFO",
    "VM_INFO_UPDATE_FREQUENCY": 0,
    "VM_INFO_UPDATE_ERROR_GRACE_PERIOD": 3,
    # Their names are misspelled there.
    "CONFMAMAGER_CHECK_STATE_INTERVAL": 1,
    "WAIT_SSH_ACCCESS_TIMEOUT": 2,
    "CHECK_CTXT_PROCESS_INTERVAL": 1,
    "WAIT_PUBLIC_IP_TIMEOUT": 3,
    "WAIT_RUNNING_VM_TIMEOUT": 2,
    "DELAY_BETWEEN_VM_RETRIES": 0,
    "MAX_VM_FAILS": 1,
    "MAX_CONTEXTUALIZATION_TIME": 60,
}
# Addresses of machines that are processes here; IM tells no private address of other networks.
LOOPBACK = "127.0.0.0/8"
RECOVERING = ("failed", "stopped", "off", "unknown", "pending")


def main(folder: Path, port: int, *settings: str) -> None:
    """Serve until a signal ends the process."""
    folder.mkdir(parents=True, exist_ok=True)
    # Where IM leaves a cache of templates.
    os.chdir(folder)
    _configure(folder, port, settings)
    _spoil_dummy(folder)
    sys.argv = ["im_service"]
    from IM.im_service import main as serve

    serve()


def _configure(folder: Path, port: int, settings: tuple[str, ...]) -> None:
    from IM.config import Config

    own = {
        "REST_PORT": port,
        "DATA_DB": f"sqlite://{folder / 'infrastructures.sqlite'}",
        "LOG_FILE": str(folder / "im.log"),
        "PRIVATE_NET_MASKS": [*Config.PRIVATE_NET_MASKS, LOOPBACK],
    }
    for name, value in {**SETTINGS, **own}.items():
        setattr(Config, name, value)
    for setting in settings:
        name, _, text = setting.partition("=")
        setattr(Config, name, _parsed(text, getattr(Config, name)))


def _parsed(text: str, before: object) -> object:
    if isinstance(before, bool):
        return text == "True"
    return int(text) if isinstance(before, int) else text


def _spoil_dummy(folder: Path) -> None:
    """Put the faults of the folder around what the Dummy cloud does."""
    from IM.connectors.Dummy import DummyCloudConnector as Dummy

    concrete, launch, finalize = Dummy.concreteSystem, Dummy.launch, Dummy.finalize

    def faulty_concrete(self: Any, *arguments: Any) -> Any:
        time.sleep(_faults(folder).get("prepare_delay", 0))
        return concrete(self, *arguments)

    def faulty_launch(self: Any, inf: Any, radl: Any, wanted: Any, count: int, auth: Any) -> Any:
        faults = _faults(folder)
        _note(folder, "launching", inf.id)
        time.sleep(faults.get("launch_delay", 0))
        if faults.get("launch_fail"):
            return [(False, faults["launch_fail"])] * count
        made = launch(self, inf, radl, wanted, count, auth)
        for _, machine in made:
            _address(machine, faults)
            _note(folder, "made", f"{inf.id}/{machine.im_id}")
        return made

    def faulty_update(self: Any, machine: Any, auth: Any) -> Any:
        faults = _faults(folder)
        _address(machine, faults)
        if faults.get("unreachable"):
            return False, faults["unreachable"]
        state = faults.get("states", {}).get(str(machine.im_id)) or faults.get("state")
        if state:
            machine.state = state
        elif machine.state in RECOVERING:
            machine.state = "running"
        return True, machine

    def faulty_finalize(self: Any, machine: Any, last: Any, auth: Any) -> Any:
        faults = _faults(folder)
        time.sleep(faults.get("destroy_delay", 0))
        if faults.get("destroy_fail"):
            return False, faults["destroy_fail"]
        _note(folder, "ended", f"{machine.inf.id}/{machine.im_id}")
        return finalize(self, machine, last, auth)

    Dummy.concreteSystem, Dummy.launch = faulty_concrete, faulty_launch
    Dummy.updateVMInfo, Dummy.finalize = faulty_update, faulty_finalize


def _faults(folder: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads((folder / FAULTS).read_text())
    except FileNotFoundError:
        return {}
    return found


def _note(folder: Path, event: str, what: str) -> None:
    """Write into the ledger of the Dummy cloud, which knows of machines that IM forgot."""
    with (folder / LEDGER).open("a") as ledger:
        ledger.write(f"{event} {what}\n")


def _address(machine: Any, faults: dict[str, Any]) -> None:
    system = machine.info.systems[0]
    if address := faults.get("address", "127.0.0.1"):
        system.setValue("net_interface.0.ip", address)
    else:
        system.delValue("net_interface.0.ip")


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute(), int(sys.argv[2]), *sys.argv[3:])
