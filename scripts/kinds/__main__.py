"""Writes the types of Kubernetes' kinds, or with --check says which are out of step."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from kinds.modules import MODULES, generated

RUFF = Path(sys.executable).with_name("ruff")


def main() -> int:
    """Do what the command line asks for."""
    texts = {path: _formatted(path, text) for path, text in generated().items()}
    wrong = [path for path, text in texts.items() if not path.exists() or path.read_text() != text]
    wrong += [path for path in MODULES.glob("*_v*.py") if path not in texts]
    if "--check" not in sys.argv:
        for path, text in texts.items():
            path.write_text(text)
        return 0
    for path in wrong:
        print(f"{path} is out of step: make generate")
    return bool(wrong)


def _formatted(path: Path, text: str) -> str:
    if path.suffix != ".py":
        return text
    return _ruff("format", path, _ruff("check", path, text, "--fix-only", "--select", "I"))


def _ruff(task: str, path: Path, text: str, *options: str) -> str:
    told = [str(RUFF), task, "-q", *options, "--stdin-filename", str(path), "-"]
    return subprocess.run(told, input=text, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    sys.exit(main())
