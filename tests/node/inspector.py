"""An echo that tells tests what no shipped program tells: its variables, its files, its children.

Run as a program by the image table of the tests.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys

from quintant.agents.echo import Answer, Echo, Page, Query, run


class Inspector(Echo):
    """Shows what its program sees."""

    def pages(self) -> dict[str, Page]:
        return {
            **super().pages(),
            "/env": lambda asked: (200, os.environ.get(asked.get("name", ""), "")),
            "/read": _read,
        }

    def changes(self) -> dict[str, Page]:
        return {**super().changes(), "/spawn": _spawn}


def _read(query: Query) -> Answer:
    root = os.environ.get("QUINTANT_ROOT", "")
    try:
        with open(f"{root}{query.get('path', '')}") as file:
            return 200, file.read()
    except OSError as error:
        return 404, str(error)


def _spawn(query: Query) -> Answer:
    apart = query.get("apart") == "yes"
    child = subprocess.Popen(["sleep", "3600"], start_new_session=apart)
    return 200, str(child.pid)


if __name__ == "__main__":
    sys.exit(asyncio.run(run(Inspector, sys.argv[1:])))
