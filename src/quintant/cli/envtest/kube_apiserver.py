"""`kube-apiserver`, for envtest: the embedded API server under the flags of the real one.

Test kits ask for --help before they start it: what serves is loaded when there is something to do.
"""

from __future__ import annotations

import sys

from quintant.cli.envtest.apiserver_flags import HONOURED, PROGRAM, WORDS, read_apiserver_flags
from quintant.cli.envtest.flag_set import FlagValues
from quintant.cli.envtest.program import Program
from quintant.version import KUBERNETES


async def run(values: FlagValues) -> None:
    """Serve until a signal comes."""
    flags = read_apiserver_flags(values)
    from quintant.cli.envtest.apiserver_process import serve_flags

    await serve_flags(flags)


KUBE_APISERVER = Program(PROGRAM, f"Kubernetes {KUBERNETES}", WORDS, HONOURED, run)

if __name__ == "__main__":
    sys.exit(KUBE_APISERVER.main(sys.argv[1:]))
