"""The first example as a system of the demo: the smallest operator there is."""

from __future__ import annotations

from quintant.api.core import ConfigMap
from quintant.cluster.kubelet.container.images import ImageProgram, our_command
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.sample import Sample, SampleProgress, example

NAMESPACE = "greeter-demo"
_GREETING = {
    "apiVersion": "demo.dev/v1",
    "kind": "Greeter",
    "metadata": {"name": "hello", "namespace": NAMESPACE},
    "spec": {"message": "hello from Quintant"},
}


EXAMPLE = example("01_greeter.py")
IMAGE = "greeter"
"""Pods run no files of this machine, unless the image table says so: the demo's does."""


def image_program() -> ImageProgram:
    """The entry of the image table for the example."""
    return ImageProgram(image=IMAGE, argv=our_command("run", str(EXAMPLE)), isolated=True)


async def _look(client: Client) -> SampleProgress:
    child = await client.find(ConfigMap, "hello", NAMESPACE, live=True)
    if child is None:
        return SampleProgress(False, "no ConfigMap yet")
    return SampleProgress(True, f'ConfigMap hello says "{child.data.get("text", "")}"')


SAMPLE = Sample(
    NAMESPACE,
    (_GREETING,),
    _look,
    (
        f"kubectl -n {NAMESPACE} get greeters,configmaps",
        f"kubectl -n {NAMESPACE} patch greeter hello --type=merge "
        """-p '{"spec":{"message":"changed"}}'""",
    ),
)
