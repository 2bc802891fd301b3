"""CustomResourceDefinitions of real projects, as their Go modules publish them.

Generated fields are as they are in a release: with descriptions, several versions, rules in CEL.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from foreign.go_program import GoProgram
from quintant.core.yaml import load_all


@dataclass(frozen=True, slots=True)
class Bundle:
    """The folders of a module that have its definitions, and no variants of them."""

    module: str
    version: str
    folders: tuple[str, ...]
    earlier: str = ""
    """A release before it, to be compared with; empty where there is none to be had."""

    def before(self) -> Bundle:
        """The same project as it was."""
        return replace(self, version=self.earlier, earlier="")

    def source(self) -> Path:
        """The folder of the module, from the cache of Go, or fetched."""
        name = self.module.split("/")[-1]
        return GoProgram(name, self.module, self.version).source(os.environ)


BUNDLES = (
    Bundle("github.com/argoproj/argo-cd/v3", "v3.5.7", ("manifests/crds",), earlier="v3.4.12"),
    Bundle(
        "github.com/argoproj/argo-rollouts",
        "v1.10.1",
        ("manifests/crds", "test/e2e/crds"),
        earlier="v1.9.2",
    ),
    Bundle("github.com/cert-manager/cert-manager", "v1.21.2", ("deploy/crds",), earlier="v1.20.2"),
    Bundle(
        "github.com/cilium/cilium",
        "v1.20.2",
        ("pkg/k8s/apis/cilium.io/client/crds",),
        earlier="v1.15.19",
    ),
    Bundle(
        "github.com/envoyproxy/gateway",
        "v1.9.1",
        ("charts/gateway-helm/charts/crds/crds",),
        earlier="v1.8.0",
    ),
    Bundle(
        "github.com/external-secrets/external-secrets",
        "v1.3.2",
        ("config/crds/bases",),
        earlier="v0.20.1",
    ),
    Bundle("github.com/kedacore/keda/v2", "v2.21.0", ("config/crd/bases",), earlier="v2.20.2"),
    Bundle("github.com/kyverno/kyverno", "v1.19.1", ("config/crds",), earlier="v1.18.2"),
    Bundle(
        "github.com/projectcontour/contour", "v1.33.8", ("examples/contour",), earlier="v1.32.1"
    ),
    Bundle(
        "github.com/prometheus-operator/prometheus-operator",
        "v0.85.0",
        ("example/prometheus-operator-crd-full",),
        earlier="v0.84.0",
    ),
    Bundle("github.com/vmware-tanzu/velero", "v1.18.3", ("config/crd",), earlier="v1.17.2"),
    Bundle(
        "istio.io/istio",
        "v0.0.0-20260827124520-eed52ebb66ad",
        ("manifests/charts/base/files",),
    ),
    Bundle("knative.dev/serving", "v0.51.0", ("config/core/300-resources",), earlier="v0.50.0"),
    Bundle(
        "sigs.k8s.io/cluster-api",
        "v1.14.2",
        (
            "core/config/crd/bases",
            "bootstrap/kubeadm/config/crd/bases",
            "controlplane/kubeadm/config/crd/bases",
            "test/infrastructure/docker/config/crd/bases",
        ),
        earlier="v1.13.6",
    ),
    Bundle(
        "sigs.k8s.io/cluster-api-provider-aws/v2",
        "v2.13.0",
        ("config/crd/bases",),
        earlier="v2.12.1",
    ),
    Bundle("github.com/fluxcd/kustomize-controller", "v1.6.0", ("config/crd/bases",)),
    Bundle(
        "github.com/kubernetes-csi/external-snapshotter/client/v8",
        "v8.6.0",
        ("config/crd",),
        earlier="v8.4.0",
    ),
    Bundle("go.universe.tf/metallb", "v0.15.2", ("config/crd/bases",), earlier="v0.13.5"),
    Bundle("sigs.k8s.io/gateway-api", "v1.5.0", ("config/crd/standard",), earlier="v1.4.1"),
    Bundle("sigs.k8s.io/external-dns", "v0.20.0", ("config/crd/standard",), earlier="v0.19.0"),
    Bundle("sigs.k8s.io/karpenter", "v1.8.0", ("pkg/apis/crds",), earlier="v1.6.4"),
    Bundle(
        "github.com/cloudnative-pg/cloudnative-pg",
        "v1.25.0",
        ("config/crd/bases",),
        earlier="v1.24.2",
    ),
    Bundle("github.com/crossplane/crossplane", "v1.20.0", ("cluster/crds",), earlier="v1.19.0"),
    Bundle(
        "github.com/kubeflow/training-operator",
        "v1.8.1",
        ("manifests/base/crds",),
        earlier="v1.7.0",
    ),
    Bundle(
        "github.com/open-policy-agent/gatekeeper/v3",
        "v3.23.1",
        ("charts/gatekeeper/crds",),
        earlier="v3.17.0",
    ),
    Bundle(
        "github.com/traefik/traefik/v3",
        "v3.7.13",
        ("docs/content/reference/dynamic-configuration",),
        earlier="v3.6.12",
    ),
    Bundle("sigs.k8s.io/cluster-api-operator", "v0.29.0", ("config/crd/bases",), earlier="v0.28.0"),
    Bundle("sigs.k8s.io/kueue", "v0.10.0", ("config/components/crd/bases",), earlier="v0.9.2"),
)


def definitions(count: int, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """So many definitions, each once, the same in every run."""
    return list(islice(_all(say), count))


def bundle_definitions(bundle: Bundle) -> Iterator[dict[str, Any]]:
    """The definitions of a project, in the order of its files."""
    source = bundle.source()
    files = (file for folder in bundle.folders for file in (source / folder).rglob("*.yaml"))
    for file in sorted(files):
        yield from _documents(file)


def _all(say: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    known: set[str] = set()
    for bundle in BUNDLES:
        say(f"crds: {bundle.module}")
        for each in bundle_definitions(bundle):
            if each["metadata"]["name"] not in known:
                known.add(each["metadata"]["name"])
                yield each


def _documents(file: Path) -> Iterator[dict[str, Any]]:
    if b"kind: CustomResourceDefinition" in (text := file.read_bytes()):
        for each in load_all(text, str(file)):
            if not isinstance(each, dict) or each.get("kind") != "CustomResourceDefinition":
                continue
            # Generators leave a file for what has no name.
            if each["metadata"].get("name"):
                yield each
