"""A Containerfile without an engine: its commands, run in a scratch root by whoever runs the test.

    FROM     the base is this machine's Python; a stage before it is copied
    COPY     from the build context, or from another stage, to the same place in the scratch root
    RUN      with /bin/sh; absolute paths that are not of the base are those of the scratch root;
             without secrets, which nobody lends here
    WORKDIR, ENV, USER, ENTRYPOINT, CMD   as they say, but nobody becomes another user

The root of the stage that is being built is always the same folder, so that what notes absolute
paths (a virtual environment) can be copied from stage to stage, as in an image.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

_SECRET = re.compile(r"--mount=type=secret\S* +")
# Folders of the base, which is this machine.
_OF_BASE = ("bin", "dev", "etc", "lib", "proc", "sbin", "tmp", "usr", "var")
# The beginning of an absolute path: not the slash inside of a relative one, nor of a URL.
_ABSOLUTE = re.compile(rf"(?<![\w./$}}*])/(?!/|(?:{'|'.join(_OF_BASE)})\b)(?=\w)")


@dataclass(frozen=True)
class Instruction:
    """A line of a Containerfile."""

    word: str
    rest: str


@dataclass
class Stage:
    """What is known of a stage once it is built."""

    root: Path
    env: dict[str, str]
    workdir: str = "/"
    user: str = ""
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)


def parse(text: str) -> list[Instruction]:
    """The instructions of a Containerfile, without comments and with their lines joined."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n", "", "\n".join(lines))
    found = (line.strip().partition(" ") for line in joined.splitlines() if line.strip())
    return [Instruction(word.upper(), rest.strip()) for word, _, rest in found]


class ScratchBuild:
    """Builds the stages of a Containerfile below a folder."""

    def __init__(self, context: Path, scratch: Path, python: str) -> None:
        self._context, self._scratch = context, scratch
        self.root = scratch / "root"
        self._base = {"PATH": f"{_with_python(scratch / 'base', python)}:/usr/bin:/bin"}
        self.stages: dict[str, Stage] = {}
        self._arguments: dict[str, str] = {}

    def build(self, text: str) -> Stage:
        """Carry out every instruction; the last stage, whose root is in place."""
        name, stage = "", None
        for each in parse(text):
            if each.word == "ARG":
                key, _, value = each.rest.partition("=")
                self._arguments[key] = value
            elif each.word == "FROM":
                self._leave(name, stage)
                name, stage = self._from(each.rest)
            else:
                assert stage is not None, f"{each.word} before FROM"
                self._carry_out(each, stage)
        assert stage is not None, "there is no FROM"
        return stage

    def run(self, stage: Stage, command: str) -> str:
        """What a command says in a stage whose root is in place."""
        done = subprocess.run(
            ["/bin/sh", "-ec", self._placed(command)],
            cwd=self._inside(stage.workdir),
            env={**stage.env, "HOME": str(self._scratch), "LANG": "C.UTF-8"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        return done.stdout

    def start(self, stage: Stage, *words: str) -> str:
        """What the entry point says to some words."""
        return self.run(stage, shlex.join([*stage.entrypoint, *words]))

    def _from(self, rest: str) -> tuple[str, Stage]:
        base, _, name = rest.partition(" AS ")
        before = self.stages.get(base.strip())
        if before is None:
            assert self._filled(base.strip(), self._arguments), f"{base} is no base"
            self.root.mkdir()
            return name.strip(), Stage(self.root, dict(self._base))
        shutil.copytree(before.root, self.root, symlinks=True)
        return name.strip(), Stage(
            self.root, dict(before.env), before.workdir, before.user, before.entrypoint
        )

    def _leave(self, name: str, stage: Stage | None) -> None:
        """Put what was built aside: the next stage is built in its place."""
        if stage is not None:
            stage.root = self._scratch / "stages" / (name or "unnamed")
            stage.root.parent.mkdir(exist_ok=True)
            self.root.rename(stage.root)
            self.stages[name] = stage

    def _carry_out(self, each: Instruction, stage: Stage) -> None:
        match each.word:
            case "WORKDIR":
                stage.workdir = each.rest
                self._inside(each.rest).mkdir(parents=True, exist_ok=True)
            case "ENV":
                for key, value in (word.split("=", 1) for word in shlex.split(each.rest)):
                    stage.env[key] = self._placed(self._filled(value, stage.env))
            case "USER":
                stage.user = each.rest
            case "ENTRYPOINT":
                stage.entrypoint = json.loads(each.rest)
            case "CMD":
                stage.command = json.loads(each.rest)
            case "COPY":
                self._copy(each.rest.split(), stage)
            case "RUN":
                self.run(stage, _SECRET.sub("", each.rest))
            case "LABEL":
                pass  # Nothing of a program sees them.
            case _:
                raise AssertionError(f"nobody here knows {each.word}")

    def _copy(self, words: list[str], stage: Stage) -> None:
        source = self._context
        if words[0].startswith("--from="):
            source = self.stages[words.pop(0).removeprefix("--from=")].root
        *given, place = words
        target = self._inside(place if place.startswith("/") else f"{stage.workdir}/{place}")
        for word in given:
            found = source / word.lstrip("/")
            assert found.exists(), f"COPY {word}: there is no such file"
            if found.is_dir():
                # Of a folder its content is copied, whatever an image's engine excludes.
                shutil.copytree(
                    found, target, symlinks=True, dirs_exist_ok=True,
                    ignore=shutil.ignore_patterns("__pycache__"),
                )  # fmt: skip
            else:
                into = target if place.endswith("/") or len(given) > 1 else target.parent
                into.mkdir(parents=True, exist_ok=True)
                shutil.copy2(found, target / found.name if into == target else target)

    def _inside(self, path: str) -> Path:
        return self.root / path.lstrip("/")

    def _placed(self, text: str) -> str:
        return _ABSOLUTE.sub(lambda _: f"{self.root}/", text)

    @staticmethod
    def _filled(text: str, values: Mapping[str, str]) -> str:
        return re.sub(r"\$\{?(\w+)\}?", lambda found: values.get(found[1], ""), text)


def _with_python(folder: Path, python: str) -> Path:
    """A folder in which `python` is what an image of Python has under that name."""
    folder.mkdir(parents=True)
    (folder / "python").symlink_to(python)
    return folder


def copied(text: str) -> Iterator[str]:
    """What a Containerfile copies from its build context."""
    for each in parse(text):
        words = each.rest.split()
        if each.word == "COPY" and not words[0].startswith("--from="):
            yield from words[:-1]


def base_python() -> str:
    """The Python that made this environment, which is no environment itself."""
    import sys

    return os.path.realpath(sys.executable)
