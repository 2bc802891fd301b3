"""How programs of others are found, built, installed and run; without Go and without a network."""

import os
import select
import signal
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from foreign import process
from foreign.__main__ import main
from foreign.catalogue import PROGRAMS
from foreign.errors import ProgramError
from foreign.go import GoTally
from foreign.go_program import GoProgram
from foreign.gomod import Module, linker_flags, main_module, staged, staging_version
from foreign.own_program import OwnProgram
from foreign.process import Child, free_ports, scratch
from foreign.python_program import PipTally, PythonProgram, requirements
from foreign.source_change import SourceChange

ANSWER_SECONDS = 20.0

GOMOD = """\
module k8s.io/kubernetes

go 1.26.0

require (
\tgithub.com/blang/semver/v4 v4.0.0
\tk8s.io/api v0.0.0
\tk8s.io/klog/v2 v2.130.1
)

replace (
\tk8s.io/api => ./staging/src/k8s.io/api
\tk8s.io/client-go => ./staging/src/k8s.io/client-go
\texample.com/fork => example.com/other v1.0.0
)

replace k8s.io/kms => ./staging/src/k8s.io/kms
"""

MODULE = Module("k8s.io/kubernetes", "v1.36.3", GOMOD, "2026-01-02T03:04:05Z")


class TestGoModules:
    def test_exactly_the_staging_replacements_are_found(self) -> None:
        assert staged(GOMOD) == ("k8s.io/api", "k8s.io/client-go", "k8s.io/kms")

    def test_main_module_replaces_what_the_module_does_and_staging_folders_by_modules(self) -> None:
        assert main_module(MODULE).split("\n\n") == [
            "module quintant.dev/foreign",
            "go 1.26.0",
            "require k8s.io/kubernetes v1.36.3",
            "replace k8s.io/api => k8s.io/api v0.36.3",
            "replace k8s.io/client-go => k8s.io/client-go v0.36.3",
            "replace k8s.io/kms => k8s.io/kms v0.36.3",
            "replace example.com/fork => example.com/other v1.0.0\n",
        ]

    def test_what_is_no_longer_to_be_had_is_replaced(self) -> None:
        simple = Module("example.com/a", "v1.0.0", "module example.com/a\n\ngo 1.22\n", "")
        instead = (("example.com/gone", "example.com/fork v1.2.3"), ("example.com/unused", ""))
        text = main_module(simple, instead=instead)
        assert "replace example.com/gone => example.com/fork v1.2.3" in text
        assert "replace example.com/unused => ./empty/example.com/unused" in text

    def test_newer_modules_are_required_beside_it(self) -> None:
        simple = Module("example.com/a", "v1.0.0", "module example.com/a\n\ngo 1.22\n", "")
        text = main_module(simple, ("example.com/b v1.9.0",))
        assert "require example.com/a v1.0.0\n\nrequire example.com/b v1.9.0" in text

    def test_module_that_calls_itself_something_else_is_taken_from_where_it_is(self) -> None:
        named = Module("a", "v1.0.0", "module a\n\ngo 1.22\n", "", "example.com/a")
        text = main_module(named)
        assert "require a v1.0.0" in text
        assert "replace a => example.com/a v1.0.0" in text
        assert "replace a => ./copy" in main_module(named, copy="copy")

    def test_module_without_staging_needs_no_replacement(self) -> None:
        etcd = Module("go.etcd.io/etcd/server/v3", "v3.6.16", "module x\n\ngo 1.25\n", "")
        assert "replace" not in main_module(etcd)

    @pytest.mark.parametrize(
        ("release", "staging"),
        [("v1.36.3", "v0.36.3"), ("v1.37.0-rc.1", "v0.37.0-rc.1")],
    )
    def test_staging_modules_share_minor_and_patch(self, release: str, staging: str) -> None:
        assert staging_version(release) == staging

    def test_unknown_form_of_release_is_refused(self) -> None:
        with pytest.raises(ValueError, match="such as v1"):
            staging_version("1.36")

    def test_go_mod_without_language_is_refused(self) -> None:
        with pytest.raises(ValueError, match=r"such as 'go 1\.26\.0'"):
            main_module(Module("k8s.io/kubernetes", "v1.36.3", "module x\n", ""))

    def test_kubernetes_programs_know_their_version(self) -> None:
        text = linker_flags(MODULE)
        assert "-X k8s.io/component-base/version.gitVersion=v1.36.3" in text
        assert "-X k8s.io/component-base/version.gitMinor=36" in text
        assert "-X k8s.io/client-go/pkg/version.buildDate=2026-01-02T03:04:05Z" in text

    def test_etcd_gets_no_kubernetes_version(self) -> None:
        assert linker_flags(Module("go.etcd.io/etcd/server/v3", "v3.6.16", "", "")) == "-s -w"


# Stands for Go: answers what is asked of a module, and "builds" a program that prints its go.mod.
GO = """\
#!/bin/sh
echo "$1" >> "$CALLS"
case "$1" in
list) printf '%s' '{"GoMod": "'"$SOURCE"'", "Time": "2026-01-02T03:04:05Z"}' ;;
mod) printf '%s' '{"Dir": "'"$(dirname "$SOURCE")/module"'"}' ;;
build|test)
    case "$*" in *" -o "*) ;; *) exit ;; esac
    while [ "$1" != -o ]; do shift; done
    { echo '#!/bin/sh'; echo "cat <<'END'"; cat go.mod; echo "package $3"
      [ ! -d source ] || cat source/cmd/main.go; echo END; } > "$2"
    chmod 755 "$2" ;;
esac
"""
# The same as a program, with the folders in which it finds what it imports.
BUILD = """\
import os
GoProgram("tool", "example.com/tool", "v1.2.3").provide(os.environ)
"""
PATHS = {"PYTHONPATH": str(Path(process.__file__).parents[1])}
TOOL = GoProgram("tool", "example.com/tool", "v1.2.3", "example.com/tool/cmd/tool")


def machine_with_go(folder: Path, script: str = GO) -> dict[str, str]:
    """The variables of a machine whose Go is a script."""
    (folder / "bin").mkdir()
    (folder / "bin" / "go").write_text(script)
    (folder / "bin" / "go").chmod(0o755)
    (folder / "go.mod").write_text("module example.com/tool\n\ngo 1.22\n")
    return {
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "QUINTANT_CACHE": str(folder / "cache"),
        "CALLS": str(folder / "calls"),
        "SOURCE": str(folder / "go.mod"),
    }


class TestGoPrograms:
    def test_program_is_built_once_from_its_module_and_version(self, tmp_path: Path) -> None:
        environ, told = machine_with_go(tmp_path), list[str]()
        program = TOOL.provide(environ, report=told.append)
        assert TOOL.provide(environ, report=told.append) == program == TOOL.locate(environ)

        said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
        assert "require example.com/tool v1.2.3" in said
        assert "package example.com/tool/cmd/tool" in said
        assert (tmp_path / "calls").read_text().split() == ["list", "mod", "build"]
        assert told[-1].startswith("built tool v1.2.3 in ")

    def test_program_without_a_switch_is_built_from_a_changed_copy(self, tmp_path: Path) -> None:
        environ = machine_with_go(tmp_path)
        file = tmp_path / "module" / "cmd" / "main.go"
        file.parent.mkdir(parents=True)
        file.write_text("listen(8080)\n")
        file.parent.chmod(0o555)
        changed = replace(TOOL, changes=(SourceChange("cmd/main.go", "8080", "port()"),))
        program = changed.provide(environ, report=lambda _: None)

        said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
        assert "replace example.com/tool => ./source" in said
        assert said.endswith("listen(port())\n")
        assert file.read_text() == "listen(8080)\n"
        assert changed.source(environ) == tmp_path / "module"
        assert TOOL.locate(environ) is None
        assert sorted(path.name for path in program.parents[1].iterdir()) == ["bin", "lock"]

    def test_change_that_does_not_fit_is_an_error(self, tmp_path: Path) -> None:
        environ = machine_with_go(tmp_path)
        (tmp_path / "module").mkdir()
        (tmp_path / "module" / "main.go").write_text("8080 8080")
        wrong = replace(TOOL, changes=(SourceChange("main.go", "8080", "port()"),))
        with pytest.raises(ProgramError, match="2 times, and not once"):
            wrong.provide(environ, report=lambda _: None)

    def test_main_package_of_ours_takes_the_place_of_one_of_the_module(
        self, tmp_path: Path
    ) -> None:
        environ = machine_with_go(tmp_path)
        own = replace(TOOL, main="package main\n\nfunc main() {}\n")
        program = own.provide(environ, report=lambda _: None)
        said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
        assert "require example.com/tool v1.2.3" in said
        assert "package .\n" in said
        assert TOOL.locate(environ) is None

    def test_module_is_held_to_the_sums_that_are_given(self, tmp_path: Path) -> None:
        environ = machine_with_go(tmp_path, GO.replace("mod)", 'mod) cat go.sum >> "$CALLS";'))
        pinned = replace(
            TOOL, source_path="example.com/other", sums=("example.com/other v1 h1:x=",)
        )
        program = pinned.provide(environ, report=lambda _: None)
        said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
        assert "replace example.com/tool => example.com/other v1.2.3" in said
        assert "example.com/other v1 h1:x=\n" in (tmp_path / "calls").read_text()

    def test_tests_of_a_package_are_built_after_what_they_import(self, tmp_path: Path) -> None:
        environ = machine_with_go(tmp_path)
        program = replace(TOOL, tests=True).provide(environ, report=lambda _: None)
        said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
        assert "package example.com/tool/cmd/tool" in said
        calls = (tmp_path / "calls").read_text().split()
        assert calls == ["list", "mod", "list", "build", "test"]

    def test_processes_that_need_it_at_once_build_it_once(self, tmp_path: Path) -> None:
        environ = machine_with_go(tmp_path)
        line = (sys.executable, "-c", "import sys; from foreign import GoProgram\n" + BUILD)
        began = [subprocess.Popen(line, env={**environ, **PATHS}) for _ in range(3)]
        assert [process.wait() for process in began] == [0, 0, 0]
        assert (tmp_path / "calls").read_text().split() == ["list", "mod", "build"]

    def test_nothing_but_the_program_and_the_lock_stays(self, tmp_path: Path) -> None:
        program = TOOL.provide(machine_with_go(tmp_path), report=lambda _: None)
        assert sorted(path.name for path in program.parents[1].iterdir()) == ["bin", "lock"]

    def test_program_that_the_user_names_is_taken(self, tmp_path: Path) -> None:
        assert TOOL.provide({"QUINTANT_TOOL": "/bin/sh", "PATH": ""}) == Path("/bin/sh")
        with pytest.raises(ProgramError, match="cannot use QUINTANT_TOOL=/nowhere"):
            TOOL.provide({"QUINTANT_TOOL": "/nowhere", "PATH": ""})

    def test_without_go_it_is_said_in_three_lines_what_to_do(self, tmp_path: Path) -> None:
        with pytest.raises(ProgramError) as raised:
            TOOL.provide({"QUINTANT_CACHE": str(tmp_path), "PATH": ""})
        assert str(raised.value).splitlines() == [
            "cannot build tool v1.2.3",
            "because: there is no go command on the PATH",
            "try: install Go, or set QUINTANT_TOOL to the program",
        ]
        assert list(tmp_path.iterdir()) == []

    def test_build_that_fails_says_what_go_said_and_leaves_nothing(self, tmp_path: Path) -> None:
        environ = machine_with_go(tmp_path, "#!/bin/sh\necho go: no such version >&2\nexit 1\n")
        with pytest.raises(ProgramError) as raised:
            TOOL.provide(environ, report=lambda _: None)
        what, why, hint = str(raised.value).splitlines()
        assert what == "failed fetching example.com/tool@v1.2.3"
        assert why == "because: go: no such version"
        assert hint.endswith("or set QUINTANT_TOOL to the program")
        assert TOOL.locate(environ) is None


def wheels(folder: Path) -> dict[str, str]:
    """The variables of a machine whose package index is a folder with one wheel in it."""
    folder.mkdir()
    with zipfile.ZipFile(folder / "tiny-1.0-py3-none-any.whl", "w") as wheel:
        info = "tiny-1.0.dist-info"
        about = "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\nRequires-Dist: absent\n"
        wheel.writestr("tiny.py", "print('tiny')\n")
        wheel.writestr(f"{info}/METADATA", about)
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    index = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder), "PIP_CONFIG_FILE": os.devnull}
    return {"PATH": os.environ["PATH"], "QUINTANT_CACHE": str(folder.parent / "cache"), **index}


class TestPythonPrograms:
    def test_program_is_installed_once_into_an_environment_of_its_own(self, tmp_path: Path) -> None:
        environ, told = wheels(tmp_path / "wheels"), list[str]()
        tiny = PythonProgram("tiny", ("tiny==1.0",), complete=True)
        python = tiny.provide(environ, report=told.append)
        count = len(told)
        assert tiny.provide(environ, report=told.append) == python == tiny.locate(environ)

        done = subprocess.run([python, "-m", "tiny"], capture_output=True, text=True, check=True)
        assert done.stdout == "tiny\n"
        assert told[-1].startswith("installed tiny in ")
        assert len(told) == count
        names = sorted(path.name for path in python.parents[2].iterdir())
        assert names == ["environment", "lock"]
        assert PythonProgram("tiny", ("tiny==1.1",), complete=True).locate(environ) is None

    def test_what_cannot_be_installed_is_said_in_three_lines_and_leaves_nothing(
        self, tmp_path: Path
    ) -> None:
        environ = wheels(tmp_path / "wheels")
        tiny = PythonProgram("tiny", ("tiny==1.0",))
        with pytest.raises(ProgramError) as raised:
            tiny.provide(environ, report=lambda _: None)
        what, why, hint = str(raised.value).splitlines()
        assert what == "cannot install tiny"
        assert why.startswith("because: pip could not install it: ERROR: ")
        assert "absent" in why
        assert hint.endswith("or set QUINTANT_TINY to a Python that has it")
        assert tiny.locate(environ) is None

    def test_requirements_are_read_without_comments(self, tmp_path: Path) -> None:
        path = tmp_path / "requirements.txt"
        path.write_text("# why\nfirst==1.0\n\nsecond==2.0  # because\n")
        assert requirements(path) == ("first==1.0", "second==2.0")

    def test_fetched_packages_are_counted_and_complaints_kept(self) -> None:
        tally = PipTally()
        for line in ("Collecting tiny==1.0", "  Downloading tiny", "ERROR: no such thing"):
            tally.feed(line)
        assert tally.text(65.9) == "1 packages fetched, 1:05"
        assert list(tally.complaints) == ["ERROR: no such thing"]


class TestCommand:
    def test_path_fails_with_the_command_that_builds(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["path", "chisel"], {"QUINTANT_CACHE": str(tmp_path)}) == 1
        assert "try: python -m foreign build chisel" in capsys.readouterr().err

    def test_every_program_is_pinned_and_listed(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["list"]) == 0
        listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
        assert listed == sorted(PROGRAMS)


class TestProgress:
    def test_modules_packages_and_complaints_are_told_apart(self) -> None:
        tally = GoTally()
        for line in (
            "go: downloading k8s.io/api v0.36.3",
            "internal/abi",
            "k8s.io/api/core/v1",
            "go: k8s.io/api@v0.36.3: no such host",
        ):
            tally.feed(line)

        assert (tally.modules, tally.packages) == (1, 2)
        assert list(tally.complaints) == ["go: k8s.io/api@v0.36.3: no such host"]
        assert tally.text(65.9) == "1 modules fetched, 2 packages compiled, 1:05"

    def test_fetched_modules_are_not_mentioned_where_there_are_none(self) -> None:
        assert GoTally(packages=7).text(3) == "7 packages compiled, 0:03"

    @pytest.mark.parametrize("ours", [0, 7, 12])
    def test_a_command_is_niced_once_however_nice_we_are(self, ours: int, tmp_path: Path) -> None:
        # `nice` alone prints the niceness that it has.
        code = (
            "import os, sys; from pathlib import Path; from foreign.commands import Command;"
            "from foreign.go import GoTally;"
            "Command(('nice',), Path(), os.environ).run(GoTally(), print, sys.stdout)"
        )
        line = ("nice", "-n", str(ours), sys.executable, "-c", code)
        path = os.pathsep.join(sys.path)
        done = subprocess.run(
            line, env={**os.environ, "PYTHONPATH": path}, check=True, capture_output=True, text=True
        )
        assert int(done.stdout) == min(19, max(10, os.nice(0) + ours))


class TestProcesses:
    def test_ports_are_distinct(self) -> None:
        assert len(set(free_ports(50))) == 50

    def test_stopped_child_is_gone(self, tmp_path: Path) -> None:
        child = Child(("sleep", "60"), tmp_path / "log")
        child.check()
        child.stop()

        with pytest.raises(ProcessLookupError):
            os.kill(child.pid, 0)

    def test_child_that_ended_shows_the_end_of_its_log(self, tmp_path: Path) -> None:
        child = Child(("sh", "-c", "echo reason >&2; exit 3"), tmp_path / "log")
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)

        with pytest.raises(ProgramError, match="it ended with code 3") as raised:
            child.check()
        assert raised.value.__notes__ == ["--- the last lines of sh:\nreason"]

    @pytest.mark.skipif(sys.platform != "linux", reason="only Linux kills a child with its parent")
    def test_child_dies_with_a_killed_parent(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "life")
        life = os.open(tmp_path / "life", os.O_RDONLY | os.O_NONBLOCK)
        parent = _parent_of(("sh", "-c", "exec >life; echo born; exec sleep 60"), tmp_path)

        assert _next(life) == b"born\n"
        parent.send_signal(signal.SIGKILL)
        parent.wait()

        # The end of the stream: the only process that held it is dead.
        assert _next(life) == b""
        os.close(life)

    def test_folder_is_removed_afterwards(self, tmp_path: Path) -> None:
        with scratch(tmp_path) as folder:
            (folder / "data").mkdir()
        assert not list(tmp_path.iterdir())

    def test_folder_in_use_survives_its_neighbours(self, tmp_path: Path) -> None:
        with scratch(tmp_path) as first, scratch(tmp_path) as second:
            assert first.is_dir()
            assert second.is_dir()

    def test_folder_of_a_killed_process_is_removed_by_the_next(self, tmp_path: Path) -> None:
        code = (
            "import os, pathlib, signal; from foreign.process import scratch\n"
            "with scratch(pathlib.Path.cwd()): os.kill(os.getpid(), signal.SIGKILL)"
        )
        _python(code, tmp_path).wait()
        assert len(list(tmp_path.iterdir())) == 1

        with scratch(tmp_path) as folder:
            assert list(tmp_path.iterdir()) == [folder]


def _parent_of(command: tuple[str, ...], folder: Path) -> subprocess.Popen[bytes]:
    code = (
        "import pathlib, signal; from foreign.process import Child\n"
        f"child = Child({command!r}, pathlib.Path('log'))\n"
        "signal.pause()"
    )
    return _python(code, folder)


def _python(code: str, folder: Path) -> subprocess.Popen[bytes]:
    scripts = Path(process.__file__).parent.parent
    environ = {**os.environ, "PYTHONPATH": str(scripts)}
    return subprocess.Popen([sys.executable, "-c", code], cwd=folder, env=environ)


def _next(stream: int) -> bytes:
    ready, _, _ = select.select([stream], [], [], ANSWER_SECONDS)
    assert ready, f"nothing happened in {ANSWER_SECONDS} s"
    return os.read(stream, 100)


class TestOwnPrograms:
    def test_another_source_is_another_program(self, tmp_path: Path) -> None:
        made = []
        for text in ("one", "two", "one"):
            folder = tmp_path / "judge"
            folder.mkdir(exist_ok=True)
            (folder / "main.go").write_text(text)
            made.append(OwnProgram(folder).provide(_with_go(tmp_path), report=lambda _: None))
        assert made[0] == made[2] != made[1]
        assert [each.read_text() for each in made[1:]] == ["two", "one"]

    def test_without_go_the_variable_that_names_it_is_hinted_at(self, tmp_path: Path) -> None:
        folder = tmp_path / "judge"
        folder.mkdir()
        environ = {"PATH": "", "QUINTANT_CACHE": str(tmp_path / "cache")}
        with pytest.raises(ProgramError, match="QUINTANT_JUDGE"):
            OwnProgram(folder).provide(environ, report=lambda _: None)


def _with_go(tmp_path: Path) -> dict[str, str]:
    """A Go that builds a program which is its source."""
    go = tmp_path / "bin" / "go"
    go.parent.mkdir(exist_ok=True)
    go.write_text(
        '#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\ncp main.go "$2"; chmod +x "$2"\n'
    )
    go.chmod(0o755)
    path = f"{go.parent}:{os.environ['PATH']}"
    return {"PATH": path, "QUINTANT_CACHE": str(tmp_path / "cache")}
