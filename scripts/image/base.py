"""A base image without a registry: Debian's minimal system with Python, made by mmdebstrap.

It is made once per machine, in the cache, from where this machine gets its own packages. What
the base of a real build has is here: `python` and its venv, and certificates of authorities.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from foreign.cache import cache_folder, locked, workshop
from foreign.commands import TAIL_LINES, Command, minutes
from foreign.errors import ProgramError, Report

SUITE = "bookworm"
"""Its Python is 3.11, for which the lock files are."""
PACKAGES = ("ca-certificates", "python-is-python3", "python3", "python3-venv", "usr-is-merged")
_MERGED = "/usr/share/mmdebstrap/hooks/merged-usr"
"""Without it, mmdebstrap would take Perl along to merge /bin into /usr."""
_SOURCES = ("/etc/apt/sources.list.d/debian.sources", "/etc/apt/sources.list")
_RELEASE = Path("/etc/os-release")
_DIGEST_BYTES = 4
_EXCLUDED = tuple(f"/usr/share/{each}/*" for each in ("doc", "man", "locale"))
CONTAINERFILE = "FROM scratch\nADD base.tar /\nENV PATH=/usr/local/bin:/usr/sbin:/usr/bin:/bin\n"


@dataclass
class LastLines:
    """What a program said last."""

    complaints: deque[str] = field(default_factory=lambda: deque(maxlen=TAIL_LINES))

    def feed(self, line: str) -> None:
        """Keep one line."""
        if line.strip():
            self.complaints.append(line.strip())

    def text(self, elapsed: float) -> str:
        """Return the last line and the elapsed time, for a progress line."""
        return f"{minutes(elapsed)} {self.complaints[-1] if self.complaints else ''}"


def provide_base(environ: Mapping[str, str], report: Report) -> Path:
    """The archive of the base's root; made first where it is missing."""
    folder = cache_folder(environ) / "image" / f"base-{_digest()}"
    finished = folder / "base.tar"
    with locked(folder, report):
        if not finished.exists():
            with workshop(folder / "making") as work:
                _make(work, environ, report)
                (work / "base.tar").rename(finished)
    (folder / "Containerfile").write_text(CONTAINERFILE)
    return finished


def tag_of_base() -> str:
    """The name of the base: another recipe is another base."""
    return f"localhost/quintant-base:{_digest()}"


def _digest() -> str:
    text = "\n".join((SUITE, *PACKAGES, *_EXCLUDED, CONTAINERFILE))
    return blake2b(text.encode(), digest_size=_DIGEST_BYTES).hexdigest()


def _make(work: Path, environ: Mapping[str, str], report: Report) -> None:
    started = time.monotonic()
    report(f"making a base of Debian's packages in {work.parent} (some minutes)")
    line = (
        *("mmdebstrap", "--variant=minbase", f"--hook-directory={_MERGED}"),
        *(f"--dpkgopt=path-exclude={each}" for each in _EXCLUDED),
        *(f"--include={','.join(PACKAGES)}", SUITE, str(work / "base.tar"), *_own_sources()),
    )
    # Its root stays where it was if it is killed: the next build empties this folder.
    own = {**environ, "TMPDIR": str(work)}
    run_with_progress(line, work, own, report, "make a base of Debian's packages")
    report(f"made the base in {time.monotonic() - started:.0f} s")


def _own_sources() -> Sequence[str]:
    """Where this machine has its packages from, if it is of the same release."""
    same = _RELEASE.is_file() and f"VERSION_CODENAME={SUITE}\n" in _RELEASE.read_text()
    return [each for each in _SOURCES if same and Path(each).is_file()][:1]


def run_with_progress(
    line: Sequence[str], folder: Path, environ: Mapping[str, str], report: Report, what: str
) -> None:
    """Run a program of minutes; ProgramError with its last lines if it fails."""
    tally = LastLines()
    code = Command(line, folder, environ).run(
        tally, lambda elapsed: report(f"{line[0]}: {tally.text(elapsed)}")
    )
    if code != 0:
        error = ProgramError(
            f"cannot {what}",
            why=f"{line[0]} ended with {code}",
            hint="check that apt-get update works on this machine",
        )
        error.add_note("\n".join((f"--- the last lines of {line[0]}:", *tally.complaints)))
        raise error
