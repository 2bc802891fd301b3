"""`python -m envtest build|prepare|path|up|kubectl|versions`: etcd and kube-apiserver at hand.

Results go to standard output, so that a shell can use them; progress goes to standard error.
"""

import argparse
import os
import shlex
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from envtest.binaries import ALL, TESTED, cached, locate
from envtest.build import provide, provide_kubectl
from envtest.cluster import RealCluster
from envtest.every_version import run_versions, with_pytest
from envtest.existing import disposable
from envtest.versions import SUPPORTED, VARIABLE, chosen
from foreign.errors import ProgramError, announce, explain

# How often `up` looks whether its programs still run.
CHECK_SECONDS = 1.0

# What a shell reports for a program ended by Ctrl-C.
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code."""
    options = _parser().parse_args(arguments)
    try:
        if options.command == "build":
            print(provide(os.environ, ALL))
        elif options.command == "prepare":
            prepare(os.environ)
        elif options.command == "kubectl":
            print(provide_kubectl(os.environ, options.version))
        elif options.command == "path":
            _path()
        elif options.command == "versions":
            return _versions(options.only, options.select)
        else:
            _up(controllers=options.controllers, scheduler=options.scheduler)
    except ProgramError as error:
        explain(error)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def prepare(environ: Mapping[str, str]) -> None:
    """Build what is needed before tests do: they would keep the progress for themselves."""
    if not disposable(environ) and not environ.get("KUBEBUILDER_ASSETS"):
        provide(environ, ALL)


def _parser() -> argparse.ArgumentParser:
    described = f"A real Kubernetes, of the version in {VARIABLE} or the newest."
    parser = argparse.ArgumentParser(prog="envtest", description=described)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("build", help="build what is missing and print the folder")
    commands.add_parser("prepare", help="build what is missing, unless a cluster is at hand")
    commands.add_parser("path", help="print the folder, or fail if nothing is built")
    kubectl = commands.add_parser("kubectl", help="build the kubectl of any release and print it")
    kubectl.add_argument("version", help="such as v1.30.14")
    up = commands.add_parser("up", help="run etcd and kube-apiserver until Ctrl-C")
    up.add_argument("--controllers", action="store_true", help="run kube-controller-manager too")
    up.add_argument("--scheduler", action="store_true", help="run kube-scheduler too")
    versions = commands.add_parser("versions", help="run tests/real on each supported version")
    versions.add_argument("--only", choices=tuple(SUPPORTED), help="this version alone")
    versions.add_argument("--select", help="the tests that pytest's -k selects")
    return parser


def _versions(only: str | None, select: str | None) -> int:
    run = with_pytest(("-k", select) if select else ())
    wanted = (only,) if only else tuple(SUPPORTED)
    results = run_versions(wanted, os.environ, build=_build_tested, run=run)
    print("── tests/real on each version", *results, sep="\n")
    return 0 if all(each.good for each in results) else 1


def _build_tested(environ: Mapping[str, str]) -> None:
    provide(environ, TESTED)


def _path() -> None:
    folder = locate(os.environ)
    if folder is None:
        raise ProgramError(
            f"cannot find the binaries of Kubernetes {chosen(os.environ)}",
            why=f"they are not in {cached(os.environ)}",
            hint="python -m envtest build",
        )
    print(folder)


def _up(*, controllers: bool, scheduler: bool) -> None:
    # Every polite end must run the clean-up, also where a script's shell had SIGINT ignored.
    for polite in (signal.SIGINT, signal.SIGTERM):
        signal.signal(polite, signal.default_int_handler)
    started = time.monotonic()
    with RealCluster(controllers=controllers, scheduler=scheduler) as cluster:
        for name, pid in cluster.pids.items():
            announce(f"running {name} pid={pid}")
        announce(f"ready server={cluster.server} after {time.monotonic() - started:.1f} s")
        print(f"export KUBECONFIG={shlex.quote(str(cluster.kubeconfig))}", flush=True)
        _linger(cluster)
    announce("stopped")


def _linger(cluster: RealCluster) -> None:
    """Return at Ctrl-C; raise when a program of the cluster ends by itself."""
    with suppress(KeyboardInterrupt):
        while True:
            time.sleep(CHECK_SECONDS)
            cluster.check()


if __name__ == "__main__":
    sys.exit(main())
