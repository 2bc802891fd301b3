"""Every program of others that tests and benchmarks use beside Kubernetes, with its version."""

from collections.abc import Mapping
from pathlib import Path

from foreign.go_program import GoProgram
from foreign.python_program import PythonProgram, requirements

_SCRIPTS = Path(__file__).parents[1]

CHISEL = GoProgram("chisel", "github.com/jpillora/chisel", "v1.10.1")

IM = PythonProgram(
    "im", requirements(_SCRIPTS / "infrastructure_manager" / "requirements.txt"), complete=True
)
"""Infrastructure Manager: GPL-3, so never imported, and without what its other clouds need."""
KR8S = PythonProgram("kr8s", ("kr8s==0.20.15",))
KUBERNETES_ASYNCIO = PythonProgram("kubernetes_asyncio", ("kubernetes_asyncio==36.1.0",))
LIGHTKUBE = PythonProgram("lightkube", ("lightkube==1.0.1",))

PROGRAMS: Mapping[str, GoProgram | PythonProgram] = {
    program.name: program for program in (CHISEL, IM, KR8S, KUBERNETES_ASYNCIO, LIGHTKUBE)
}
