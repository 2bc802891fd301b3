"""kopf's own examples, and what becomes of a cluster with one of them at work.

They come from kopf's source archive, unpacked into the cache; nothing of them is copied here.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import yaml

from foreign.cache import cache_folder
from quintant import Client, Config
from quintant.client.http.transport import HttpTransport
from quintant.client.rest import Rest
from quintant.core.errors import NotFound

VERSION = "1.45.2"
EXAMPLES = "/apis/kopf.dev/v1/namespaces/default/kopfexamples"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
PODS = "/api/v1/namespaces/default/pods"
EVENTS = "/api/v1/namespaces/default/events"
HOOKS = "/apis/admissionregistration.k8s.io/v1/{}webhookconfigurations"
PROGRAM = Path(__file__).parents[1] / "interop/programs/kopf_with_openssl_3.py"
CALM_SECONDS, LONGEST_SECONDS = 6.0, 60.0
"""What is at rest has not changed for so long; what never rests is looked at after so long."""
_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:\+00:00|Z)?")
_COUNTED = ("kopf.zalando.org/touch-dummy",)
"""What kopf writes to have time pass; we write nothing for that."""


def examples_folder(python: Path) -> Path:
    """The folder with all examples, fetched once."""
    folder = cache_folder(os.environ) / f"kopf-{VERSION}"
    if not folder.exists():
        draft = folder.with_name(f"{folder.name}.{os.getpid()}")
        draft.mkdir(parents=True)
        # The environment of a program has no pip of its own.
        pip = [sys.executable, "-m", "pip", "--python", str(python), "download", "--quiet"]
        pip += ["--no-deps", "--no-binary", "kopf"]
        subprocess.run([*pip, "--dest", str(draft), f"kopf=={VERSION}"], check=True)
        with tarfile.open(next(draft.glob("*.tar.gz"))) as archive:
            archive.extractall(draft, filter="data")
        draft.rename(folder)
    return folder / f"kopf-{VERSION}" / "examples"


@dataclass(frozen=True)
class Framework:
    """A way to run an example."""

    name: str
    command: Sequence[str]
    program: Sequence[str]
    """For an example that is a program of its own."""
    environ: Mapping[str, str]


def ours(python: Path) -> Framework:
    """Quintant; the libraries of the examples are kopf's environment's."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = python.parents[1] / "lib" / version / "site-packages"
    return Framework(
        "quintant",
        (sys.executable, "-m", "quintant", "run", "--kopf", "--standalone"),
        (sys.executable, "-m", "quintant.kopf"),
        {"PYTHONPATH": str(packages)},
    )


def theirs(python: Path) -> Framework:
    """kopf itself."""
    command = (str(python), str(PROGRAM), "run", "-A", "--standalone")
    return Framework("kopf", command, (str(python),), {})


class Scene:
    """A cluster, as its examples see it."""

    def __init__(self, client: Client, folder: Path) -> None:
        self.client, self.folder = client, folder

    async def ask(self, method: str, path: str, body: Any = None, kind: str = "json") -> Any:
        types = {"json": "application/json", "merge": "application/merge-patch+json"}
        raw = None if body is None else msgspec.json.encode(body)
        answer = await self.client.raw(
            method, path, body=raw, headers={"content-type": types[kind]}
        )
        return msgspec.json.decode(answer)

    async def prepare(self) -> None:
        """Have the kind of all examples."""
        crd = yaml.safe_load((self.folder / "crd.yaml").read_text())
        await self.ask("POST", DEFINITIONS, crd)
        async with asyncio.timeout(30):
            while not await self._served():  # noqa: ASYNC110 - as a client
                await asyncio.sleep(0.2)

    async def create(self) -> None:
        """Create the object of all examples, and a pod."""
        obj = yaml.safe_load((self.folder / "obj.yaml").read_text())
        await self.ask("POST", EXAMPLES, obj)
        container = {"name": "c", "image": "busybox"}
        labels = {"application": "kopf-example-10"}
        pod = {"metadata": {"name": "p", "labels": labels}, "spec": {"containers": [container]}}
        await self.ask("POST", PODS, {"apiVersion": "v1", "kind": "Pod", **pod})

    async def change(self) -> None:
        """Change a field of it."""
        patch = {"spec": {"field": "changed", "lst": [1]}}
        await self.ask("PATCH", f"{EXAMPLES}/kopf-example-1", patch, "merge")

    async def delete(self) -> None:
        """Delete both."""
        for path in (f"{EXAMPLES}/kopf-example-1", f"{PODS}/p"):
            await self.ask("DELETE", path)

    async def state(self) -> dict[str, Any]:
        """Everything that an example may have to do with, without what only this cluster counts."""
        objects = await self.ask("GET", EXAMPLES)
        pods = await self.ask("GET", PODS)
        events = await self.ask("GET", EVENTS)
        hooks = [await self.ask("GET", HOOKS.format(kind)) for kind in ("validating", "mutating")]
        return {
            "objects": sorted((_object(each) for each in objects["items"]), key=str),
            "pods": sorted((_pod(each) for each in pods["items"]), key=str),
            "events": sorted(
                {
                    (each["type"], each["reason"], each.get("message", ""))
                    for each in events["items"]
                    if each.get("reportingComponent") == "kopf"
                }
            ),
            "webhooks": [_hook(each) for found in hooks for each in found["items"]],
        }

    async def rest(self) -> dict[str, Any]:
        """The state once it has not changed for a while."""
        loop = asyncio.get_running_loop()
        began = changed = loop.time()
        state = await self.state()
        while loop.time() - changed < CALM_SECONDS and loop.time() - began < LONGEST_SECONDS:
            await asyncio.sleep(0.5)
            if (now := await self.state()) != state:
                state, changed = now, loop.time()
        return state

    async def _served(self) -> bool:
        try:
            await self.ask("GET", EXAMPLES)
        except NotFound:
            return False
        return True


@dataclass
class Life:
    """What an example left behind: states in the order of a script, and what it printed."""

    states: list[dict[str, Any]]
    printed: Counter[str]
    code: int
    errors: str


async def live(framework: Framework, example: Path, scene: Scene, kubeconfig: Path) -> Life:
    """Run an example through a script: create, change, delete, end."""
    environ = {
        "PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/root"),
        "KUBECONFIG": str(kubeconfig), "PYTHONUNBUFFERED": "1", **framework.environ,
    }  # fmt: skip
    alone = _is_program(example)
    command = framework.program if alone else framework.command
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *command, str(example), env=environ, stdout=pipe, stderr=pipe, cwd=example.parent
    )
    talk = asyncio.ensure_future(process.communicate())
    states: list[dict[str, Any]] = []
    try:
        if alone:
            await asyncio.wait({talk}, timeout=LONGEST_SECONDS)
        else:
            states = await _script(scene)
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        await asyncio.wait({talk}, timeout=LONGEST_SECONDS)
        states.append(await scene.state())
    finally:
        if process.returncode is None:
            process.kill()
    out, err = await talk
    assert process.returncode is not None
    return Life(states, Counter(out.decode().splitlines()), process.returncode, err.decode())


def _is_program(example: Path) -> bool:
    return "__main__" in example.read_text()


async def _script(scene: Scene) -> list[dict[str, Any]]:
    await asyncio.sleep(START_SECONDS)
    states = []
    for step in (scene.create, scene.change, scene.delete):
        await step()
        states.append(await scene.rest())
    return states


START_SECONDS = 10.0
"""The slowest example needs six of them before it looks at anything."""


@asynccontextmanager
async def open_scene(kubeconfig: Path, folder: Path) -> AsyncIterator[Scene]:
    """A cluster that has the kind of all examples."""
    transport = HttpTransport(Config.load(kubeconfig))
    try:
        scene = Scene(Client(Rest(transport), manager="tests"), folder)
        await scene.prepare()
        yield scene
    finally:
        await transport.close()


def _object(obj: dict[str, Any]) -> dict[str, Any]:
    meta = obj["metadata"]
    kept = meta.get("annotations", {}).items()
    return {
        "name": meta["name"],
        "labels": meta.get("labels", {}),
        "annotations": {key: _blind(value) for key, value in kept if key not in _COUNTED},
        "finalizers": meta.get("finalizers", []),
        "going": "deletionTimestamp" in meta,
        "spec": obj.get("spec"),
        "status": _blind(obj.get("status")),
    }


def _pod(pod: dict[str, Any]) -> dict[str, Any]:
    meta = pod["metadata"]
    return {
        "name": meta.get("generateName", meta["name"]),
        "labels": meta.get("labels", {}),
        "owners": [(each["kind"], each["name"]) for each in meta.get("ownerReferences", [])],
        "finalizers": meta.get("finalizers", []),
        "images": [each["image"] for each in pod["spec"]["containers"]],
        "kept": sorted(meta.get("annotations", {})),
    }


def _hook(configuration: dict[str, Any]) -> dict[str, Any]:
    hooks = [
        {key: value for key, value in each.items() if key != "clientConfig"}
        for each in configuration.get("webhooks", [])
    ]
    return {"name": configuration["metadata"]["name"], "webhooks": hooks}


def _blind(value: Any) -> Any:
    """A value without uids and times, which each cluster has its own of."""
    if isinstance(value, dict):
        return {key: _blind(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_blind(each) for each in value]
    return _TIME.sub("<time>", _UID.sub("<uid>", value)) if isinstance(value, str) else value
