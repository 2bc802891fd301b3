"""Programs of others, for tests and benchmarks: found, or made once in the cache, and run.

A program is pinned in `catalogue`: built from a Go module (`go_program`), or installed from a
package index into an environment of its own (`python_program`). `process` and `probe` run them on a
leash and see when they are ready. The real API server (`envtest`) stands on the same ground.

    program = CHISEL.provide(os.environ)    # minutes at most, once per machine, with progress
"""

from foreign.errors import ProgramError
from foreign.go_program import GoProgram
from foreign.python_program import PythonProgram

__all__ = ["GoProgram", "ProgramError", "PythonProgram"]
