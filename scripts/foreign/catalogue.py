"""Every program of others that tests and benchmarks use beside Kubernetes, with its version."""

from collections.abc import Mapping
from pathlib import Path

from foreign.go_program import GoProgram
from foreign.python_program import PythonProgram, requirements

_SCRIPTS = Path(__file__).parents[1]

CHISEL = GoProgram("chisel", "github.com/jpillora/chisel", "v1.10.1")
_COMET = "github.com/cometbft/cometbft"
COMETBFT = GoProgram("cometbft", _COMET, "v0.38.17", f"{_COMET}/cmd/cometbft")
PRIV_VAL_SERVER = GoProgram("priv_val_server", _COMET, "v0.38.17", f"{_COMET}/cmd/priv_val_server")
"""CometBFT's own remote signer."""
_IBC = "github.com/cosmos/ibc-go/v8"
SIMD = GoProgram(
    "simd",
    _IBC,
    "v8.8.0",
    f"{_IBC}/testing/simapp/simd",
    # The one that it asks for does not build with a newer Go.
    newer=("github.com/bytedance/sonic v1.15.5",),
)
"""A chain of the Cosmos SDK; minutes to build, for `make interop`."""

IM = PythonProgram(
    "im", requirements(_SCRIPTS / "infrastructure_manager" / "requirements.txt"), complete=True
)
"""Infrastructure Manager: GPL-3, so never imported, and without what its other clouds need."""
KR8S = PythonProgram("kr8s", ("kr8s==0.20.15",))
KUBERNETES_ASYNCIO = PythonProgram("kubernetes_asyncio", ("kubernetes_asyncio==36.1.0",))
LIGHTKUBE = PythonProgram("lightkube", ("lightkube==1.0.1",))

PROGRAMS: Mapping[str, GoProgram | PythonProgram] = {
    program.name: program
    for program in (
        CHISEL,
        COMETBFT,
        IM,
        KR8S,
        KUBERNETES_ASYNCIO,
        LIGHTKUBE,
        PRIV_VAL_SERVER,
        SIMD,
    )
}
