"""`etcd`, for envtest: a folder for the kube-apiserver beside it, and word of its health."""

from __future__ import annotations

import sys

from quintant.cli.envtest.etcd_flags import HONOURED, PROGRAM, RELEASE, WORDS, read_etcd_flags
from quintant.cli.envtest.flag_set import FlagValues
from quintant.cli.envtest.program import Program
from quintant.version import QUINTANT

MISUSED = 2
"""What Go's own reader of flags ends a program with."""


async def run(values: FlagValues) -> None:
    """Answer until a signal comes."""
    flags = read_etcd_flags(values)
    from quintant.cli.envtest.etcd_process import serve_flags

    await serve_flags(flags)


ETCD = Program(
    PROGRAM, f"etcd Version: {RELEASE} (Quintant {QUINTANT})", WORDS, HONOURED, run, MISUSED
)

if __name__ == "__main__":
    sys.exit(ETCD.main(sys.argv[1:]))
