"""Who may create pods runs what the image table has, and nothing else of this machine.

Everything a stranger brings is in the API: a ConfigMap with code, variables, commands. What would
run it leaves a file behind, and no promise here leaves one.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest
import pytest_asyncio

import patience
from node.node_fixture import IMAGE, NodeCluster, children
from node.up_program import run_pod, up
from quintant.cluster.instance.cluster import ClusterConfig, run_cluster
from quintant.cluster.kubelet.container.images import ImageProgram
from quintant.cluster.kubelet.options import NodeOptions
from quintant.core.address import BindAddress
from unit.cluster.api import JsonObject

pytestmark = pytest.mark.realtime

CONFIGS = "/api/v1/namespaces/default/configmaps"
EVENTS = "/api/v1/namespaces/default/events"
FOREIGN = "example/python"
OWN_SCRIPT = "import time; time.sleep(600)"
PROGRAMS = (
    ImageProgram(image=FOREIGN, argv=(sys.executable, "-c", OWN_SCRIPT), env={"PYTHONPATH": "/t"}),
    ImageProgram(image=FOREIGN, command="touch"),
    ImageProgram(
        image="example/loads", argv=(sys.executable, "-c", OWN_SCRIPT), allow_env=("LD_*",)
    ),
)


@pytest_asyncio.fixture
async def node() -> AsyncIterator[NodeCluster]:
    """A cluster whose only component is the node."""
    config = ClusterConfig(BindAddress("127.0.0.1", 0), node=NodeOptions(PROGRAMS))
    async with run_cluster(config) as cluster:
        yield NodeCluster(cluster)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """What is there once somebody's code has run."""
    return tmp_path / "it-ran"


def ran(trace: Path) -> bool:
    return trace.exists()


def write(trace: Path) -> str:
    return f"open({str(trace)!r}, 'w').close()\n"


async def mounted(node: NodeCluster, files: dict[str, str], path: str) -> JsonObject:
    """A volume with files of a ConfigMap, and where a container mounts it."""
    data = {f"k{at}": text for at, text in enumerate(files.values())}
    await node.api.create(CONFIGS, {"metadata": {"name": "code"}, "data": data})
    items = [{"key": f"k{at}", "path": name} for at, name in enumerate(files)]
    source = {"name": "code", "items": items, "defaultMode": 0o755}
    return {
        "container": {"volumeMounts": [{"name": "code", "mountPath": path}]},
        "volumes": [{"name": "code", "configMap": source}],
    }


async def event(node: NodeCluster, reason: str, words: str) -> str:
    """The message of an event, once there is one with a reason and words."""
    async with node.api.watch(EVENTS) as events:
        while True:
            found = (await events.next(patience.seconds(PATIENCE)))["object"]
            if found["reason"] == reason and words in found["message"]:
                return str(found["message"])


PATIENCE = 60.0


def environment(pid: int) -> dict[str, str]:
    pairs = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
    return dict(pair.split("=", 1) for pair in pairs if pair)


def command_line(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/cmdline").read_text().split("\0")


async def variables(node: NodeCluster, image: str, **given: str) -> dict[str, str]:
    """What a program of an image finds in its environment if a pod sets variables."""
    env = [{"name": name, "value": value} for name, value in given.items()]
    await node.create("a", containers=[{"name": "main", "image": image, "env": env}])
    await event(node, "Started", "")
    (pid,) = children(os.getpid())
    async with patience.within(PATIENCE):
        while True:
            # While a process becomes its program, the kernel shows no environment of it.
            if "PLAIN" in (found := environment(pid)):
                return found
            await asyncio.sleep(0.01)


async def test_a_probe_runs_no_command_that_the_image_table_lacks(
    node: NodeCluster, trace: Path
) -> None:
    probe = {"exec": {"command": ["touch", str(trace)]}, "periodSeconds": 1}
    await node.run("a", container={"image": IMAGE, "livenessProbe": probe})
    message = await event(node, "Unhealthy", "touch")
    assert 'allow it with {image: "quintant/echo", command: "touch"}' in message
    assert not ran(trace)


@pytest.mark.parametrize("hook", ["postStart", "preStop"])
async def test_a_hook_runs_no_command_that_the_image_table_lacks(
    node: NodeCluster, trace: Path, hook: str
) -> None:
    lifecycle = {hook: {"exec": {"command": ["sh", "-c", f"touch {trace}"]}}}
    container = {"name": "main", "image": IMAGE, "lifecycle": lifecycle}
    await node.create("a", containers=[container], restartPolicy="Never")
    await event(node, "Started", "")
    await node.api.delete("/api/v1/namespaces/default/pods/a")
    message = await event(node, f"Failed{hook[0].upper()}{hook[1:]}Hook", "sh")
    assert 'command: "sh"' in message
    assert not ran(trace)


async def test_a_probe_runs_what_the_image_table_allows(node: NodeCluster, tmp_path: Path) -> None:
    allowed = {"exec": {"command": ["touch", str(tmp_path / "allowed")]}, "periodSeconds": 1}
    own = {"exec": {"command": ["python", "-c", OWN_SCRIPT]}, "periodSeconds": 1}
    container = {"name": "main", "image": FOREIGN, "readinessProbe": allowed, "livenessProbe": own}
    await node.create("a", containers=[container])
    message = await event(node, "Unhealthy", "Liveness")
    assert "timed out" in message, "the image's own program is run"
    await node.until("a", lambda pod: (tmp_path / "allowed").exists())


async def test_an_images_interpreter_is_not_its_program(node: NodeCluster, trace: Path) -> None:
    """What an entry runs is its whole line: an interpreter with another script is another one."""
    probe = {"exec": {"command": ["python", "-c", write(trace)]}, "periodSeconds": 1}
    await node.create("a", containers=[{"name": "main", "image": FOREIGN, "livenessProbe": probe}])
    await event(node, "Unhealthy", "image table")
    assert not ran(trace)


@pytest.mark.parametrize(
    ("file", "path", "more"),
    [
        ("sitecustomize.py", "/code", {"env": [{"name": "PYTHONPATH", "value": "/code"}]}),
        ("click.py", "/code", {"workingDir": "/code"}),
        (
            "usercustomize.py",
            f"/root/.local/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages",
            {},
        ),
    ],
    ids=["by PYTHONPATH", "in the working directory", "in the home"],
)
async def test_our_programs_load_no_code_of_a_config_map(
    node: NodeCluster, trace: Path, file: str, path: str, more: JsonObject
) -> None:
    spec = await mounted(node, {file: write(trace)}, path)
    spec["container"] |= {"image": IMAGE, **more}
    await node.run("a", **spec)
    assert not ran(trace)


@pytest.mark.parametrize("verb", ["run", "crd", "manifests"])
async def test_of_our_commands_only_agents_and_operators_run_in_pods(
    node: NodeCluster, trace: Path, verb: str
) -> None:
    spec = await mounted(node, {"x.py": write(trace)}, "/code")
    container = {"name": "main", "image": "quintant", "args": [verb, "/code/x.py"]}
    container |= spec.pop("container")
    await node.create("a", containers=[container], **spec)
    message = await event(node, "Failed", "quintant")
    assert "agent, operator" in message
    assert "--images" in message
    assert not ran(trace)


async def test_our_image_is_no_interpreter(node: NodeCluster, trace: Path) -> None:
    spec = await mounted(node, {"x.py": write(trace)}, "/code")
    container = {"name": "main", "image": "quintant", "command": ["python", "/code/x.py"]}
    container |= spec.pop("container")
    await node.create("a", containers=[container], **spec)
    message = await event(node, "Failed", "image table")
    assert 'command: "python"' in message
    assert not ran(trace)


async def test_a_kubeconfig_of_a_config_map_starts_no_program(
    node: NodeCluster, trace: Path
) -> None:
    """Operators would log in with a program that the kubeconfig names."""
    login = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": "touch",
        "args": [str(trace)],
    }
    document = KUBECONFIG % {"exec": str(login).replace("'", '"')}
    spec = await mounted(node, {"config": document}, "/root/.kube")
    container = {"name": "main", "image": "quintant", "args": ["operator", "klight"]}
    container |= spec.pop("container")
    await node.create("a", containers=[container], restartPolicy="Never", **spec)
    pod = await node.until("a", lambda pod: pod.get("status", {}).get("phase") == "Failed")
    assert pod["status"]["phase"] == "Failed"
    assert "login" in await node.logs("a")
    assert not ran(trace)


KUBECONFIG = """
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: u, user: {exec: %(exec)s}}]
"""
LOADERS = {
    "LD_PRELOAD": "/t/x.so",
    "LD_LIBRARY_PATH": "/t",
    "PYTHONSTARTUP": "/t/x.py",
    "OPENSSL_CONF": "/t/x.cnf",
    "GCONV_PATH": "/t",
    "PLAIN": "kept",
}


async def test_no_variable_of_a_pod_makes_our_programs_load_something(node: NodeCluster) -> None:
    found = await variables(node, IMAGE, PATH="/t", **LOADERS)
    assert LOADERS.keys() & found.keys() == {"PLAIN"}
    assert found["PATH"] != "/t", "nor does it choose what our programs start"
    message = await event(node, "VariablesDropped", "LD_PRELOAD")
    assert "/t" not in message, "names, and no values"


async def test_other_programs_get_such_variables_from_the_table_not_from_a_pod(
    node: NodeCluster,
) -> None:
    found = await variables(node, FOREIGN, PYTHONPATH="/mine", **LOADERS)
    assert found["PYTHONPATH"] == "/t"
    assert LOADERS.keys() & found.keys() == {"PLAIN"}


async def test_an_entry_of_the_table_may_let_them_through(node: NodeCluster) -> None:
    found = await variables(node, "example/loads", **LOADERS)
    assert LOADERS.keys() & found.keys() == {"PLAIN", "LD_PRELOAD", "LD_LIBRARY_PATH"}


def command_lines() -> str:
    """Of every process of this machine, as everybody can read them."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found.append(entry.read_bytes().decode(errors="replace").replace("\0", " "))
    return "\n".join(found)


@pytest.mark.parametrize("option", ["--kubeconfig", "--data-dir"])
async def test_no_command_line_or_variable_of_a_pod_leads_to_the_admins_kubeconfig(
    tmp_path: Path, option: str
) -> None:
    place = tmp_path / "keys"
    with up(tmp_path, f"{option}={place}") as process:
        await run_pod(place if option == "--kubeconfig" else tmp_path / "kubeconfig")
        pids = children(process.pid)
        assert pids
        assert str(place) not in command_lines()
        for pid in pids:
            assert str(place) not in str(environment(pid))


async def test_a_volume_does_not_take_the_place_of_a_programs_files(
    tmp_path: Path, trace: Path
) -> None:
    script = tmp_path / "opt" / "serve.py"
    script.parent.mkdir()
    script.write_text(OWN_SCRIPT)
    program = ImageProgram(
        image="example/script",
        argv=(sys.executable, str(script)),
        env={"PYTHONPATH": str(script.parent)},
    )
    config = ClusterConfig(BindAddress("127.0.0.1", 0), node=NodeOptions((program,)))
    async with run_cluster(config) as cluster:
        node = NodeCluster(cluster)
        files = {"serve.py": write(trace), "sitecustomize.py": write(trace)}
        code = await mounted(node, files, str(script.parent))
        main = {"name": "main", "image": program.image, **code["container"]}
        await node.create("a", containers=[main], volumes=code["volumes"])
        await event(node, "Started", "")
        (pid,) = children(os.getpid())
        assert str(script) in command_line(pid)
        assert environment(pid)["PYTHONPATH"] == str(script.parent)
        assert not ran(trace)


async def test_no_argument_of_a_pod_leads_an_agent_out_of_the_pod(
    node: NodeCluster, tmp_path: Path
) -> None:
    """A snapshot unpacked into the folder of our code, or a folder of yours emptied."""
    (tmp_path / "precious").write_text("mine")
    container = {
        "name": "main", "image": "quintant",
        "args": ["agent", "cosmosnode", "clean", str(tmp_path)],
        "env": [{"name": "QUINTANT_VOLUMES", "value": f'["{tmp_path}"]'}],
    }  # fmt: skip
    await node.create("a", containers=[container], restartPolicy="Never")
    pod = await node.until("a", lambda pod: pod.get("status", {}).get("phase") == "Failed")
    (status,) = pod["status"]["containerStatuses"]
    assert "outside of the pod's root" in status["state"]["terminated"]["message"]
    assert (tmp_path / "precious").read_text() == "mine"


async def test_an_agent_uses_the_volumes_of_its_pod(node: NodeCluster) -> None:
    main = {
        "name": "main", "image": "quintant", "args": ["agent", "cosmosnode", "clean", "/data"],
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    }  # fmt: skip
    volumes = [{"name": "data", "emptyDir": {}}]
    await node.create("a", containers=[main], volumes=volumes, restartPolicy="Never")
    pod = await node.until("a", lambda pod: pod.get("status", {}).get("phase") == "Succeeded")
    assert pod["status"]["phase"] == "Succeeded"
