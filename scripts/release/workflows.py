"""Workflows of hosted CI: every action is named by the commit that was read, and its version."""

import re
from collections.abc import Iterator

_USES = re.compile(r"^\s*(?:- )?uses: (?P<action>\S+)(?P<comment>.*)$", re.MULTILINE)
_COMMIT = re.compile(r"[\w./-]+@[0-9a-f]{40}")
_VERSION = re.compile(r" # v\d+\.\d+\.\d+")


def unpinned(workflow: str) -> Iterator[str]:
    """Yield the actions that are not named by a commit with its version beside it."""
    for found in _USES.finditer(workflow):
        if not (_COMMIT.fullmatch(found["action"]) and _VERSION.fullmatch(found["comment"])):
            yield found["action"]
