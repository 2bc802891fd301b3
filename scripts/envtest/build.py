"""Building the real binaries, once per machine, from published Go modules.

One process builds at a time, others wait for it (`foreign.cache`). A program appears in the cache
when it is finished, and a build that was interrupted goes on with the programs that are missing.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from envtest import binaries
from foreign.cache import locked, workshop
from foreign.errors import Report, announce
from foreign.go import Go
from foreign.go_program import GoProgram
from foreign.gomod import ETCD_MODULE, KUBERNETES_MODULE
from quintant.version import KUBERNETES

# The newest patch of the 3.6 line, which is what Kubernetes v1.36 is released with.
ETCD = "v3.6.16"

_INSTEAD = "set KUBEBUILDER_ASSETS to a folder with the binaries"


def _recipe(name: str, version: str = KUBERNETES) -> GoProgram:
    return GoProgram(name, KUBERNETES_MODULE, version, f"{KUBERNETES_MODULE}/cmd/{name}")


RECIPES: Mapping[str, GoProgram] = {
    binaries.STORE: GoProgram(binaries.STORE, ETCD_MODULE, ETCD),
    **{name: _recipe(name) for name in (binaries.APISERVER, binaries.MANAGER, binaries.KUBECTL)},
}


def provide(
    environ: Mapping[str, str],
    needed: Iterable[str] = binaries.PAIR,
    *,
    report: Report = announce,
) -> Path:
    """Return a folder with the needed binaries; build all of them first where one is missing."""
    found = binaries.locate(environ, tuple(needed))
    if found is not None:
        return found
    go = Go.find(environ, report, what="etcd and kube-apiserver", instead=_INSTEAD)
    return _build_all(go, binaries.cached(environ))


def provide_kubectl(environ: Mapping[str, str], version: str) -> Path:
    """Return the kubectl of any release, such as v1.30.14; build it first where it is missing."""
    program = binaries.kubectl_of(environ, version)
    if binaries.missing(program.parent, (program.name,)):
        recipe = _recipe(binaries.KUBECTL, version)
        go = Go.find(environ, announce, what=f"kubectl {version}", instead=f"put it at {program}")
        _build_all(go, program.parent, {program.name: recipe})
    return program


def _build_all(go: Go, folder: Path, recipes: Mapping[str, GoProgram] = RECIPES) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder.parent, go.report):
        # Asked again under the lock: another process may have built them while we waited.
        for name in binaries.missing(folder, recipes):
            with workshop(folder.parent / "building") as work:
                recipes[name].build(go, work / name)
                os.replace(work / name, folder / name)
    return folder
