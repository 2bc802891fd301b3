"""Every program of others that tests and benchmarks use beside Kubernetes, with its version."""

from collections.abc import Mapping

from foreign.go_program import GoProgram
from foreign.python_program import PythonProgram

CHISEL = GoProgram("chisel", "github.com/jpillora/chisel", "v1.10.1")

KR8S = PythonProgram("kr8s", ("kr8s==0.20.15",))
KUBERNETES_ASYNCIO = PythonProgram("kubernetes_asyncio", ("kubernetes_asyncio==36.1.0",))
LIGHTKUBE = PythonProgram("lightkube", ("lightkube==1.0.1",))

PROGRAMS: Mapping[str, GoProgram | PythonProgram] = {
    program.name: program for program in (CHISEL, KR8S, KUBERNETES_ASYNCIO, LIGHTKUBE)
}
