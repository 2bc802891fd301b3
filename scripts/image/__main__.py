"""`python -m image build|test`: see `make image` and `make image-test`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence

from foreign.errors import ProgramError, announce, explain
from image import build
from image.engine import engine_works, find_engine

REQUIRED = "QUINTANT_REQUIRED"
"""Set where whatever is absent is a failure, as in `.ci/run`."""
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None, environ: Mapping[str, str] = os.environ) -> int:
    """Run one command; return the exit code."""
    options = _parser().parse_args(arguments)
    try:
        return _build(options, environ) if options.command == "build" else _test(options, environ)
    except ProgramError as error:
        explain(error)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="image", description="The container image.")
    commands = parser.add_subparsers(dest="command", required=True)
    made = commands.add_parser("build", help="build it with docker, podman or buildah")
    made.add_argument("--engine", default="", help="the first that works of these, unless named")
    made.add_argument("--base", default=build.DEFAULT_BASE, help="an image that has python 3.11")
    made.add_argument("--tag", default=f"quintant:{build.version()}")
    made.add_argument("--target", default=build.TARGET, help="a stage of deploy/Containerfile")
    tried = commands.add_parser("test", help="build it without a registry, and try all of it")
    tried.add_argument("--base", default="", help="an image; else one made of Debian's packages")
    return parser


def _build(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    engine = find_engine(options.engine, environ, engine_works)
    if "@" not in options.base:
        announce(f"base {options.base}, by its tag; BASE={options.base}@sha256:... repeats a build")
    wanted = build.plan(options.base, options.tag, options.target)
    build.build_image(engine, wanted, environ, announce)
    print(build.write_sbom(engine, options.tag, build.ROOT / "dist"))
    return 0


def _test(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    # It needs the environment of development, which a build does not.
    from image.trial import MissingTool, try_image

    try:
        return try_image(options.base, environ)
    except MissingTool as error:
        explain(error)
        return 1 if environ.get(REQUIRED) else 0


if __name__ == "__main__":
    sys.exit(main())
