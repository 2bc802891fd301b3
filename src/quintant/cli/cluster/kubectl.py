"""What a user without kubectl reads: how to get it, and what can be looked at without it."""

from __future__ import annotations

import shlex
import shutil
import sys

_MISSING = """there is no kubectl here: https://kubernetes.io/docs/tasks/tools says how to get it
without it, you can still look: {program} get pods -A, and the same with describe and logs"""


def kubectl_advice() -> str:
    """A word to a user without kubectl, or nothing."""
    if shutil.which("kubectl") is not None:
        return ""
    program = sys.argv[0] if sys.argv[0].endswith("quintant") else "quintant"
    return _MISSING.format(program=shlex.quote(program))
