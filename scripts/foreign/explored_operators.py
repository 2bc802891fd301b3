"""Operators of others that exploration is measured with: each once as it had a defect, once mended.

Beside each is pinned what it ran with in its time, as far as a newer one would not do.
"""

from pathlib import Path

from foreign.go_program import GoProgram
from foreign.python_program import PythonProgram


def _dask(version: str, *more: str) -> PythonProgram:
    name = f"dask-kubernetes-{version.replace('.', '-')}"
    return PythonProgram(name, (f"dask-kubernetes=={version}", *more))


_YEAR_2023 = (
    "dask==2023.3.2",
    "distributed==2023.3.2",
    "kopf==1.36.0",
    "kubernetes==26.1.0",
    "kubernetes-asyncio==24.2.3",
    "pykube-ng==22.9.0",
    # They import what was part of them then.
    "importlib_metadata==6.1.0",
    "setuptools==75.8.0",
)
_YEAR_2025 = (
    "dask==2025.4.0",
    "distributed==2025.4.0",
    "kopf==1.37.5",
    "kr8s==0.20.7",
    # Kr8s imports what httpx brought along then.
    "sniffio==1.3.1",
    "setuptools==75.8.0",
)
DASK_2023_3_2 = _dask("2023.3.2", *_YEAR_2023)
DASK_2023_6_0 = _dask("2023.6.0", *_YEAR_2023, "kr8s==0.5.1", "sniffio==1.3.1")
DASK_2025_4_0 = _dask("2025.4.0", *_YEAR_2025)
DASK_2025_4_3 = _dask("2025.4.3", *_YEAR_2025)
DASK_2026_3_0 = _dask(
    "2026.3.0", "dask==2026.3.0", "distributed==2026.3.0", "kopf==1.45.2", "kr8s==0.20.15"
)

# Of their time, and not for the Go of today.
_NEWER = ("github.com/modern-go/reflect2 v1.0.2", "golang.org/x/sys v0.30.0")


def _rabbitmq(version: str) -> GoProgram:
    name = f"rabbitmq-operator-{version.replace('.', '-')}"
    return GoProgram(name, "github.com/rabbitmq/cluster-operator", version, newer=_NEWER)


def _zookeeper(version: str, package: str) -> GoProgram:
    module = "github.com/pravega/zookeeper-operator"
    return GoProgram(
        f"zookeeper-operator-{version.replace('.', '-')}",
        module,
        version,
        module + package,
        newer=_NEWER,
        instead=(("vbom.ml/util", "github.com/fvbommel/util v0.0.3"), ("bou.ke/monkey", "")),
    )


RABBITMQ_1_5_0 = _rabbitmq("v1.5.0")
RABBITMQ_1_8_0 = _rabbitmq("v1.8.0")
RABBITMQ_1_10_0 = _rabbitmq("v1.10.0")
ZOOKEEPER_0_2_9 = _zookeeper("v0.2.9", "/cmd/manager")
ZOOKEEPER_0_2_15 = _zookeeper("v0.2.15", "")
MONGODB_0_7_5 = GoProgram(
    "mongodb-operator-v0-7-5",
    "github.com/mongodb/mongodb-kubernetes-operator",
    "v0.7.5",
    "github.com/mongodb/mongodb-kubernetes-operator/cmd/manager",
    newer=_NEWER,
)
GALLERY = GoProgram(
    "gallery-operator",
    "sigs.k8s.io/controller-runtime",
    "v0.24.1",
    main=Path(__file__).with_name("gallery_operator.go").read_text(),
)
"""With the mistakes of docs/mistakes.md, on controller-runtime."""
SAMPLE_CONTROLLER = GoProgram("sample-controller", "k8s.io/sample-controller", "v0.35.0")

# In which nothing was known that exploration could find.
DASK_GATEWAY_2026_3_0 = PythonProgram(
    "dask-gateway-2026-3-0",
    ("dask-gateway-server==2026.3.0", "aiohttp==3.14.5", "kubernetes-asyncio==36.1.0"),
)

OPERATORS: tuple[GoProgram | PythonProgram, ...] = (
    RABBITMQ_1_5_0,
    RABBITMQ_1_8_0,
    RABBITMQ_1_10_0,
    ZOOKEEPER_0_2_9,
    ZOOKEEPER_0_2_15,
    MONGODB_0_7_5,
    SAMPLE_CONTROLLER,
    GALLERY,
    DASK_2023_3_2,
    DASK_2023_6_0,
    DASK_2025_4_0,
    DASK_2025_4_3,
    DASK_2026_3_0,
    DASK_GATEWAY_2026_3_0,
)
