"""Every program of the image, and what it has to say to somebody who gives it nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from image.sandbox import ProgramOutput
from quintant.agents import AGENTS
from quintant.cli import COMMANDS
from quintant.extras import CLUSTER, NEEDED_BY
from quintant.operators import OPERATORS
from quintant.version import QUINTANT

SERVES = re.compile(r'"event": "serve"|^listening on ', re.MULTILINE)
BUILDER = "/opt/wheel"
"""A folder that was there during the build, and is not in the image."""
THREE_LINES = re.compile(r"^(cannot .*)\n(because: .*)\n(try: .*)$", re.MULTILINE)
USAGE = re.compile(r"^usage: quintant agent .*error: .*", re.MULTILINE | re.DOTALL)
NO_CLUSTER = re.compile(r"\Acannot find a cluster\nbecause: .*\ntry: .*\Z")
LACKS_CLUSTER = re.compile(
    rf"\Acannot run \w+\nbecause: it needs the module \w+, .*\ntry: .*\[{CLUSTER}\].*\Z"
)
"""The image has no embedded cluster."""
TWO_LINES = re.compile(r"^cannot run: .*\ntry: .*$", re.MULTILINE)
IMPORT_ALL = """
import sys, pathlib, importlib, importlib.metadata, ssl
base = pathlib.Path(sys.base_prefix) / "lib" / f"python3.{sys.version_info.minor}" / "lib-dynload"
names = {file.name.split(".")[0] for file in base.glob("*.so")} - {"_tkinter"}
extensions = {
    str(file).removesuffix("".join(file.suffixes)).replace("/", ".")
    for each in importlib.metadata.distributions() for file in each.files or ()
    if file.name.endswith(".so") and file.parts[0] != ".." and "_cffi" not in str(file)
}
for name in sorted(names | {e for e in extensions if not e.split(".")[0].endswith("libs")}):
    importlib.import_module(name)
trusted = list(pathlib.Path(ssl.get_default_verify_paths().capath or "/nowhere").glob("*"))
print(len(names) > 20, len(extensions) > 10, len(trusted) > 50)
"""
"""Loads every extension module, of Python and of every distribution, and finds the authorities."""


@dataclass(frozen=True)
class Trial:
    """A program, and what is expected of it."""

    words: Sequence[str]
    expected: Sequence[re.Pattern[str]]

    def complaint(self, output: ProgramOutput) -> str:
        """What is wrong with what it said, or nothing."""
        if BUILDER in output.text:
            return f"{' '.join(self.words)} names a file of the build: {output.text[-2000:]}"
        if "Traceback" in output.text or "Errno" in output.text.partition("because:")[0]:
            return f"{' '.join(self.words)}: {output.text[-2000:]}"
        if not any(pattern.search(output.text.strip()) for pattern in self.expected):
            return f"{' '.join(self.words)} ended with {output.code}: {output.text[-2000:]}"
        return ""


def trials() -> Iterator[Trial]:
    """Everything that can be started."""
    yield Trial(("quintant", "--version"), (re.compile(f"^quintant {re.escape(QUINTANT)}, "),))
    yield Trial(("python", "-c", IMPORT_ALL), (re.compile(r"\ATrue True True\Z"),))
    for name in sorted(COMMANDS):
        needs = rf"(?s:.*)It needs the extra {CLUSTER}: " if NEEDED_BY.get(name) == CLUSTER else ""
        yield Trial(("quintant", name, "--help"), (re.compile(rf"^Usage: quintant {name}{needs}"),))
    for name in ("demo", "up"):
        yield Trial(("quintant", name), (LACKS_CLUSTER,))
    for name in sorted(OPERATORS):
        yield Trial(("quintant", "operator", name), (NO_CLUSTER,))
        yield Trial(("quintant", "operator", name, "--help"), (re.compile("^Usage: "),))
    yield Trial(("quintant", "klight"), (NO_CLUSTER,))
    for name in sorted(AGENTS):
        yield Trial(("quintant", "agent", name, "--help"), (re.compile("(?i)^usage"),))
        yield Trial(("quintant", "agent", name), (SERVES, THREE_LINES, TWO_LINES, USAGE))
