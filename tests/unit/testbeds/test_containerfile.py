"""Containerfiles name what there is, and their steps can be carried out in a scratch root."""

from __future__ import annotations

from pathlib import Path

import pytest

from quintant.cli.new import project_files
from testbeds.containerfile import Instruction, ScratchBuild, base_python, copied, parse

ROOT = Path(__file__).parents[3]
OURS = (ROOT / "deploy/Containerfile").read_text()
SMALL = """
# A comment.
ARG BASE=docker.io/library/python:3.11-slim
FROM ${BASE} AS build
WORKDIR /source
COPY one two/ ./
COPY folder ./folder
RUN --mount=type=secret,id=pip_conf --mount=type=secret,id=ca \\
    cat one folder/inner > /opt/made \\
 && python -c 'print("https://a/b", "/usr/bin")' >> /opt/made

FROM ${BASE} AS last
COPY --from=build /opt /opt
ENV PATH=/opt/bin:$PATH
USER 65532:65532
LABEL org.opencontainers.image.title=small
ENTRYPOINT ["cat", "/opt/made"]
"""


def test_lines_are_joined_and_comments_left_out() -> None:
    text = "# x\nRUN a \\\n && b\n\nUSER 1\n"
    assert parse(text) == [Instruction("RUN", "a  && b"), Instruction("USER", "1")]


def test_every_step_is_carried_out_below_the_scratch_root(tmp_path: Path) -> None:
    context = tmp_path / "context"
    (context / "folder").mkdir(parents=True)
    (context / "two").mkdir()
    (context / "one").write_text("1\n")
    (context / "folder/inner").write_text("2\n")
    build = ScratchBuild(context, tmp_path / "scratch", base_python())
    stage = build.build(SMALL.replace("cat one", "mkdir /opt && cat one"))
    assert build.start(stage) == "1\n2\nhttps://a/b /usr/bin\n"
    assert stage.user == "65532:65532"
    assert stage.env["PATH"].startswith(f"{build.root}/opt/bin:")
    assert not (build.root / "source").exists()


def test_a_step_that_fails_is_told(tmp_path: Path) -> None:
    build = ScratchBuild(tmp_path, tmp_path / "scratch", base_python())
    with pytest.raises(AssertionError, match="no such thing"):
        build.build("FROM base\nRUN echo no such thing; false")
    build = ScratchBuild(tmp_path, tmp_path / "other", base_python())
    with pytest.raises(AssertionError, match="COPY absent: there is no such file"):
        build.build("FROM base\nCOPY absent /opt/")


def test_everything_that_our_image_copies_is_in_the_repository() -> None:
    found = list(copied(OURS))
    assert found
    assert [each for each in found if not (ROOT / each).exists()] == []


def test_everything_that_the_image_of_a_new_project_copies_is_in_it() -> None:
    files = dict(project_files("shop", "quintant-0.1.0-py3-none-any.whl", "shop.example.com"))
    made = {part.as_posix() for path in files for part in (path, *path.parents)} | {"vendor"}
    found = list(copied(files[Path("Containerfile")]))
    assert found
    assert set(found) <= made
