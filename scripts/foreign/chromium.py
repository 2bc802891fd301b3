"""A Chromium of this machine, and Playwright to drive it: neither is fetched by us."""

import shutil
from collections.abc import Mapping
from importlib.util import find_spec

from foreign.errors import ProgramError


def find_chromium(environ: Mapping[str, str]) -> str:
    """The program: the one that QUINTANT_CHROMIUM names, or the one on the path."""
    program = environ.get("QUINTANT_CHROMIUM") or shutil.which("chromium", path=environ.get("PATH"))
    if program is not None and find_spec("playwright"):
        return program
    absent = "a Chromium" if program is None else "Playwright"
    raise ProgramError(
        f"cannot try the console's page: there is no {absent.removeprefix('a ')} here",
        why=f"{absent} is no part of Quintant, and its tests need one",
        hint="apt-get install --no-install-recommends chromium fonts-dejavu-core, "
        "then make test-console; QUINTANT_CHROMIUM names another one",
    )
