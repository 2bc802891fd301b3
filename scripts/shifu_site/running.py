"""A site that is shown by a process of its own, so that nobody pays for what it holds."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

from processes.running import running_command
from quintant.die_with_parent import die_with_parent

SCRIPTS = Path(__file__).parents[1]
ANSWER_SECONDS = 20.0
KUBECONFIG = (
    "apiVersion: v1\nkind: Config\ncurrent-context: a\n"
    "clusters: [{{name: a, cluster: {{server: 'http://127.0.0.1:{port}'}}}}]\n"
    "contexts: [{{name: a, context: {{cluster: a, user: a}}}}]\nusers: [{{name: a, user: {{}}}}]\n"
)


class ShownSite:
    """The process of a site."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self._child, self._port = child, ""

    def kubeconfig(self, folder: Path) -> Path:
        """Wait until it serves; the way to it, in a file of the folder."""
        assert self._child.stdout is not None
        self._port = self._child.stdout.readline().decode().strip()
        assert self._port, "the site ended before it served"
        way = folder / "kubeconfig"
        way.write_text(KUBECONFIG.format(port=self._port))
        return way

    def writes(self) -> int:
        """How many writes were tried so far."""
        with urlopen(f"http://127.0.0.1:{self._port}/writes", timeout=ANSWER_SECONDS) as answer:
            return int(answer.read())


@contextmanager
def shown_site(devices: int, nodes: int) -> Iterator[ShownSite]:
    """Start a site, which is shown for as long as the context lasts."""
    command = [sys.executable, "-m", "shifu_site", str(devices), str(nodes)]
    path = os.pathsep.join((str(SCRIPTS), os.environ.get("PYTHONPATH", "")))
    with running_command(die_with_parent(command), env={"PYTHONPATH": path}) as child:
        yield ShownSite(child)
