"""What kstatus and Argo CD say of objects."""

import json
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from foreign.errors import ProgramError
from foreign.own_program import OwnProgram
from manifests.gitops import SCRIPT

JUDGE = OwnProgram(Path(__file__).parent / "judge")


class Verdict(NamedTuple):
    """Two words about one object."""

    kstatus: str
    """Current, InProgress, Failed, Terminating."""
    health: str
    """Argo CD's: Healthy, Progressing, Degraded, Suspended."""


def judged(program: Path, objects: Iterable[Mapping[str, Any]]) -> list[Verdict]:
    """The verdict about each object, by kstatus itself and by the health check in Lua."""
    given = json.dumps({"script": SCRIPT.read_text(), "objects": list(objects)})
    done = subprocess.run([program], input=given, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ProgramError(
            "cannot judge objects", why=done.stderr.strip(), hint=f"run {program} by hand"
        )
    return [Verdict(each["kstatus"], each["health"]) for each in json.loads(done.stdout)]
