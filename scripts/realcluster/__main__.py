"""`python -m realcluster test|up|clean`: a real cluster at hand."""

import argparse
import os
import shlex
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from foreign.errors import ProgramError, announce, explain
from realcluster import network, requirements
from realcluster.cluster import RealCluster, clean, running_cluster
from realcluster.images.build import provide_archive
from realcluster.images.store import provide_store
from realcluster.left_behind import descendants, left_behind
from realcluster.programs import provide_programs
from realcluster.suite import run_tests

INTERRUPTED = 130
CHECK_SECONDS = 1.0


def main(arguments: Sequence[str] | None = None, environ: Mapping[str, str] = os.environ) -> int:
    """Run one command; return the exit code."""
    options = _parser().parse_args(arguments)
    for polite in (signal.SIGINT, signal.SIGTERM):
        signal.signal(polite, signal.default_int_handler)
    try:
        if absent := requirements.missing(requirements.Machine.observe()):
            return unable(absent, environ)
        if options.command == "clean":
            clean(environ)
            return 0
        return _run(options, environ)
    except ProgramError as error:
        explain(error)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="realcluster", description="A real cluster.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("clean", help="remove what a killed cluster left")
    up = commands.add_parser("up", help="run a cluster until Ctrl-C")
    test = commands.add_parser("test", help="run the tests of tests/cluster on one")
    test.add_argument("--full", action="store_true", help="upgrades, lost nodes, removal, too")
    test.add_argument("--select", default="", help="only tests that pytest's -k selects")
    for each in (up, test):
        each.add_argument("--nodes", type=int, default=2, help="how many nodes it has")
    return parser


def unable(absent: Sequence[str], environ: Mapping[str, str]) -> int:
    """Say what this machine lacks; a failure only where every test is required."""
    announce("cannot run a real cluster on this machine; it lacks")
    for each in absent:
        announce(f"  {each}")
    return 1 if environ.get("QUINTANT_REQUIRED") else 0


def _run(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    began = time.monotonic()
    programs = provide_programs(environ)
    images = provide_store(provide_archive(environ), environ, announce)
    announce(f"programs and images at hand after {time.monotonic() - began:.1f} s")
    with running_cluster(programs, images, environ, size=options.nodes) as cluster:
        if options.command == "up":
            _linger(cluster)
            return 0
        code = run_tests(cluster, full=options.full, select=options.select)
        processes = descendants()
    announce(f"all of it took {time.monotonic() - began:.1f} s")
    left = left_behind(cluster.layout.folder, processes)
    announce(f"still there: {', '.join(left)}" if left else "nothing of it stayed")
    return code or int(bool(left))


def _linger(cluster: RealCluster) -> None:
    """Say how to reach the cluster; return at Ctrl-C, raise when a part of it ends by itself."""
    enter = network.in_network(cluster.control_plane.holder, ("bash",))
    own = {"KUBECONFIG": str(cluster.layout.kubeconfig)}
    kubectl = cluster.control_plane.programs.kubectl
    words = [*(f"{name}={value}" for name, value in own.items()), f"PATH={kubectl.parent}:$PATH"]
    print(f"{' '.join(words)} {shlex.join(enter)}", flush=True)
    with suppress(KeyboardInterrupt):
        while True:
            time.sleep(CHECK_SECONDS)
            cluster.control_plane.check()


if __name__ == "__main__":
    sys.exit(main())
