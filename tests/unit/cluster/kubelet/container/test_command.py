"""What is run for a container: words of the image table and of the pod, on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from quintant.cluster.kubelet.container.images import ImageProgram, Images
from quintant.cluster.kubelet.process.protocols import Launch
from unit.cluster.kubelet.world import IMAGE, World, container, status

CONFIGS = "/api/v1/namespaces/default/configmaps"
VOLUMES = [{"name": "e", "emptyDir": {}}]


def mounted(*paths: str) -> list[dict[str, str]]:
    return [{"name": "e", "mountPath": path} for path in paths]


async def launched(world: World, program: ImageProgram, *mounts: str, **more: Any) -> Launch:
    """How a container with an emptyDir at some paths is started."""
    world.node = replace(world.node, images=Images((program,)))
    async with world.at_work():
        made = container(volumeMounts=mounted(*mounts), **more)
        await world.run("a", made, volumes=VOLUMES)
        return world.processes.newest.launch


async def test_paths_and_addresses_of_the_image_table_are_those_of_the_pod(tmp_path: Path) -> None:
    world = World(tmp_path)
    program = ImageProgram(
        image=IMAGE,
        argv=("/bin/true", "--dir=/srv/app/x"),
        args=("--listen=0.0.0.0:80", "/srv/app"),
        env={"DATA": "/srv/app/data", "HOME": "/srv/app"},
    )
    launch = await launched(world, program, "/srv/app")
    volume = launch.argv[3]
    assert volume.startswith(str(tmp_path))
    assert launch.argv[1:3] == (f"--dir={volume}/x", f"--listen={launch.env['QUINTANT_POD_IP']}:80")
    assert launch.env["DATA"] == f"{volume}/data"
    assert launch.env["HOME"] == volume


async def test_a_mount_does_not_replace_the_program_nor_its_files(tmp_path: Path) -> None:
    script = tmp_path / "opt" / "run.py"
    script.parent.mkdir()
    script.touch()
    world = World(tmp_path)
    env = {"PYTHONPATH": str(script.parent), "LD_LIBRARY_PATH": str(script.parent)}
    program = ImageProgram(image=IMAGE, argv=("/bin/true", str(script)), env=env)
    launch = await launched(world, program, str(script.parent), "/bin")
    assert launch.argv == ("/bin/true", str(script))
    assert env.items() <= launch.env.items()


async def test_folders_of_an_entry_come_first_whatever_the_pod_says(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "shim").write_text("")
    (tools / "shim").chmod(0o755)
    world = World(tmp_path)
    program = ImageProgram(image=IMAGE, command="*", path=(str(tools),))
    env = [{"name": "PATH", "value": "/opt/app/bin"}]
    launch = await launched(world, program, "/srv", command=["shim"], env=env)
    assert launch.argv == (str(tools / "shim"),)
    assert launch.env["PATH"] == f"{tools}:/opt/app/bin"


async def test_the_file_of_last_words_is_found_where_the_pod_names_it(world: World) -> None:
    script = ["sh", "-c", "echo no > /dev/termination-log; echo /dev/other"]
    for path, words in (("", script), ("/dev/other", script)):
        more = {"terminationMessagePath": path} if path else {}
        await world.run(f"a{len(path)}", container(args=words, **more))
        launch = world.processes.newest.launch
        own = f"{launch.env['QUINTANT_ROOT']}{path or '/dev/termination-log'}"
        assert own in launch.argv[-1]
        assert launch.argv[-1].count(launch.env["QUINTANT_ROOT"]) == 1


@pytest.mark.parametrize("value", ["", "/tmp", "../x"])
async def test_a_sub_path_that_leads_nowhere_or_out_is_a_wrong_configuration(
    world: World, value: str
) -> None:
    mounts = [{"name": "e", "mountPath": "/data", "subPathExpr": "$(SUB)"}]
    made = container(volumeMounts=mounts, env=[{"name": "SUB", "value": value}])
    waiting = status(await world.run("a", made, volumes=VOLUMES))["state"]["waiting"]
    assert waiting["reason"] == "CreateContainerConfigError"
    assert not value or value not in waiting["message"]


async def test_home_and_temporary_files_may_be_mounted(world: World) -> None:
    mounts = mounted("/tmp", "/home/operator")
    env = [{"name": "HOME", "value": "/home/operator"}]
    await world.run("a", container(volumeMounts=mounts, env=env), volumes=VOLUMES)
    launch = world.processes.newest.launch
    assert launch.env["HOME"] == launch.env["TMPDIR"]
    assert Path(launch.env["HOME"]).is_relative_to(world.node.folder)


async def test_a_program_that_is_not_there_is_told_with_what_to_do(tmp_path: Path) -> None:
    world = World(tmp_path)
    program = ImageProgram(image=IMAGE, argv=("/not/there",))
    world.node = replace(world.node, images=Images((program,)))
    async with world.at_work():
        waiting = status(await world.run("a"))["state"]["waiting"]
    assert waiting["reason"] == "ErrImageNeverPull"
    assert '"/not/there"' in waiting["message"]
    assert "--images" in waiting["message"]
