"""Which image is which program."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from quintant.api.container import Container
from quintant.api.pod import PodSpec
from quintant.cluster.kubelet.container.images import ImageProgram, Images, load_image_table
from quintant.core.errors import ConfigError

OURS = (sys.executable, "-I", "-u", "-m", "quintant")


@pytest.mark.parametrize(
    ("image", "command", "line"),
    [
        ("quintant/echo", (), (*OURS, "agent", "echo", "x")),
        ("quintant/echo:1.2", (), (*OURS, "agent", "echo", "x")),
        ("docker.io/quintant/echo@sha256:00", (), (*OURS, "agent", "echo", "x")),
        ("ghcr.io/anybody/quintant:1", (), (*OURS, "x")),
        ("quintant:1", ("quintant", "agent", "echo"), (*OURS, "agent", "echo", "x")),
        ("quintant/echo", ("quintant", "agent", "echo"), (*OURS, "agent", "echo", "x")),
        ("localhost:5000/quintant", ("/usr/bin/quintant",), (*OURS, "x")),
        ("localhost:32000/lightpeer:v0.1.0-k8s", (), (*OURS, "agent", "lightpeer", "x")),
        ("localhost:32000/lightpeer:v1", ("./lightpeer",), (*OURS, "agent", "lightpeer", "x")),
        ("r/klight.peer:v1", ("./klightpeer",), (*OURS, "agent", "klightpeer", "x")),
        ("ghcr.io/gosuda/portal-tunnel:1.0.0", (), (*OURS, "agent", "tunnel", "x")),
        ("ghcr.io/x/cosmos-operator:v1", ("/manager",), (*OURS, "agent", "cosmosnode", "x")),
    ],
)
def test_our_images_run_our_programs(
    image: str, command: tuple[str, ...], line: tuple[str, ...]
) -> None:
    program = Images().locate(image, command)
    assert program is not None
    assert program.line(command, ("x",)) == line


@pytest.mark.parametrize(
    ("image", "command"),
    [("nginx", ()), ("nginx", ("sh",)), ("notquintant", ()), ("quintant/other", ())],
)
def test_other_images_are_nobodys(image: str, command: tuple[str, ...]) -> None:
    assert Images().locate(image, command) is None


@pytest.mark.parametrize(
    ("words", "allowed"),
    [
        (("agent", "echo"), True),
        (("operator", "klight"), True),
        (("run", "x.py"), False),
        (("--help",), False),
        ((), False),
    ],
)
def test_our_image_runs_agents_and_operators_only(words: tuple[str, ...], allowed: bool) -> None:
    program = Images().locate("quintant:1", ())
    assert program is not None
    assert program.allows(program.line((), words)) is allowed


@pytest.mark.parametrize("command", ["sh", "python", "/bin/cat"])
def test_other_commands_of_our_images_are_refused_and_not_simulated(command: str) -> None:
    program = Images().locate("quintant:1", (command,))
    assert program is not None
    assert not program.allows(program.line((command,), ()))


WEB = ImageProgram(image="web", argv=("/bin/web", "serve"))


@pytest.mark.parametrize(
    ("command", "line"),
    [
        (("web", "serve", "--check"), ("/bin/web", "serve", "--check")),
        (("/bin/web", "serve"), ("/bin/web", "serve")),
        (("web", "delete"), None),
        (("/tmp/web", "serve"), None),
        (("cat", "/a"), ("cat", "/a")),
        (("sh", "-c", "true"), None),
    ],
)
def test_a_probe_runs_the_images_program_or_an_entry_of_the_table(
    command: tuple[str, ...], line: tuple[str, ...] | None
) -> None:
    images = Images((WEB, ImageProgram(image="web", command="cat")))
    container = Container(name="a", image="web:1")
    found = images.exec_line(container, command, command, lambda program: program)
    assert (found[1] if found else None) == line


def test_the_first_entry_that_fits_wins_and_users_come_first() -> None:
    mine = ImageProgram(image="quintant/*", argv=("mine",))
    assert Images((mine,)).locate("quintant/echo", ()) is mine


def test_an_image_has_arguments_of_its_own_unless_the_container_names_some() -> None:
    program = ImageProgram(image="x", argv=("run",), args=("usual",))
    assert program.line((), ()) == ("run", "usual")
    assert program.line((), ("other",)) == ("run", "other")


def test_a_command_can_be_run_as_it_is() -> None:
    program = Images((ImageProgram(image="busybox", command="*"),)).locate(
        "busybox:1", ("sh", "-c")
    )
    assert program is not None
    assert program.line(("sh", "-c"), ("true",)) == ("sh", "-c", "true")


def test_a_pod_is_run_if_all_of_its_images_are_known() -> None:
    ours, other = (Container(name=n, image=i) for n, i in (("a", "quintant/echo"), ("b", "x")))
    assert Images().runs(PodSpec(containers=(ours,)))
    assert not Images().runs(PodSpec(containers=(ours, other)))
    assert not Images().runs(PodSpec(containers=(ours,), init_containers=(other,)))


def test_a_table_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "images.yaml"
    path.write_text('images:\n- {image: "a/*", argv: [b, "--c"], env: {D: "e"}}\n')
    assert load_image_table(path) == (ImageProgram(image="a/*", argv=("b", "--c"), env={"D": "e"}),)


@pytest.mark.parametrize(
    "text",
    ["images: 3", "- image: a", "images: [{argv: [x]}]", "images: [{image: a, agrv: [x]}]", "{"],
)
def test_a_file_that_is_no_table_is_explained(tmp_path: Path, text: str) -> None:
    path = tmp_path / "images.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match="cannot read"):
        load_image_table(path)


def test_a_file_that_is_not_there_is_explained(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        load_image_table(tmp_path / "images.yaml")


@pytest.mark.parametrize("folder", ["bin", "/not/there", "/etc/passwd"])
def test_a_path_that_is_no_folder_is_refused_by_its_name(tmp_path: Path, folder: str) -> None:
    path = tmp_path / "images.yaml"
    path.write_text(f'images: [{{image: "a/b", command: sh, path: ["{folder}"]}}]')
    with pytest.raises(ConfigError, match=f"path of image 'a/b': {folder} is no folder"):
        load_image_table(path)


def test_folders_of_an_entry_are_searched_first() -> None:
    tools = ImageProgram(image="x", path=("/opt/a", "/opt/b"))
    assert tools.search_path("/bin") == "/opt/a:/opt/b:/bin"
    own = ImageProgram(image="x", path=("/opt/a",), env={"PATH": "/usr/bin"})
    assert own.search_path("/bin") == "/opt/a:/usr/bin"


@pytest.mark.parametrize(
    ("image", "agent"),
    [
        ("edgehub/deviceshifu-http-http:v0.101.0", "deviceshifu"),
        ("edgehub/deviceshifu-tcp-tcp:nightly", "deviceshifu"),
        ("edgehub/mockdevice-plate-reader:v0.101.0", "mockdevice-plate-reader"),
        ("docker.io/edgehub/mockdevice-opcua:v0.101.0", "mockdevice-opcua"),
        ("helloworld-device:v0.0.1", "mockdevice-hello-world"),
        ("eclipse-mosquitto:2.0.14", "broker"),
        ("edgehub/telemetryservice:nightly", "telemetryservice"),
    ],
)
def test_agents_stand_in_for_the_images_of_shifus_samples(image: str, agent: str) -> None:
    program = Images().locate(image, ())
    assert program is not None
    assert program.argv[-1 if agent != "broker" else -2] == agent
    assert Images().locate("edgehub/camera-python:v0.0.1", ()) is None
