"""`python -m quintant.kopf PROGRAM ARGUMENT…`: a program that runs an operator within itself."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from quintant.kopf.module import provide
from quintant.runtime.observe import logs

USAGE = "python -m quintant.kopf PROGRAM.py [ARGUMENT…]"


def main() -> None:
    """Run a file as a program, with `import kopf` answered by this package."""
    if len(sys.argv) < 2:
        sys.exit(USAGE)
    logs.configure(level="warning")
    provide()
    del sys.argv[0]
    sys.path.insert(0, str(Path(sys.argv[0]).resolve().parent))
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
