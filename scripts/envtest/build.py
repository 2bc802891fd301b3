"""Building the real binaries, once per machine, from published Go modules.

One process builds at a time, others wait for it (`foreign.cache`). A program appears in the cache
when it is finished, and a build that was interrupted goes on with the programs that are missing.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from envtest import binaries
from envtest.versions import chosen
from foreign.cache import locked, workshop
from foreign.errors import Report, announce
from foreign.go import Go
from foreign.go_program import GoProgram
from foreign.gomod import ETCD_MODULE, KUBERNETES_MODULE

# The newest patch of the 3.6 line, which is what Kubernetes v1.36 is released with. Older releases
# of Kubernetes run on it, too: what is tested is their API server.
ETCD = "v3.6.16"

_INSTEAD = "set KUBEBUILDER_ASSETS to a folder with the binaries"


_OF_KUBERNETES = (
    binaries.APISERVER,
    binaries.MANAGER,
    binaries.SCHEDULER,
    binaries.KUBECTL,
)


def recipes(version: str) -> Mapping[str, GoProgram]:
    """Return how the programs of a release are built, by their names."""
    store = GoProgram(binaries.STORE, ETCD_MODULE, ETCD)
    return {binaries.STORE: store, **{name: _recipe(name, version) for name in _OF_KUBERNETES}}


def provide(
    environ: Mapping[str, str],
    needed: Iterable[str] = binaries.PAIR,
    *,
    report: Report = announce,
) -> Path:
    """Return a folder with the needed binaries; build those of them first that are missing."""
    needed = tuple(needed)
    found = binaries.locate(environ, needed)
    if found is not None:
        return found
    go = Go.find(environ, report, what="etcd and kube-apiserver", instead=_INSTEAD)
    wanted = {name: each for name, each in recipes(chosen(environ)).items() if name in needed}
    return _build_all(go, binaries.cached(environ), wanted)


def provide_kubectl(environ: Mapping[str, str], version: str) -> Path:
    """Return the kubectl of any release, such as v1.30.14; build it first where it is missing."""
    program = binaries.kubectl_of(environ, version)
    if binaries.missing(program.parent, (program.name,)):
        recipe = _recipe(binaries.KUBECTL, version)
        go = Go.find(environ, announce, what=f"kubectl {version}", instead=f"put it at {program}")
        _build_all(go, program.parent, {program.name: recipe})
    return program


def _recipe(name: str, version: str) -> GoProgram:
    return GoProgram(name, KUBERNETES_MODULE, version, f"{KUBERNETES_MODULE}/cmd/{name}")


def _build_all(go: Go, folder: Path, wanted: Mapping[str, GoProgram]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder.parent, go.report):
        # Asked again under the lock: another process may have built them while we waited.
        for name in binaries.missing(folder, wanted):
            with workshop(folder.parent / "building") as work:
                wanted[name].build(go, work / name)
                os.replace(work / name, folder / name)
    return folder
