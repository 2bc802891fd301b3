"""CustomResourceDefinitions of real projects, as their Go modules publish them.

Generated fields are as they are in a release: with descriptions, several versions, rules in CEL.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
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

    def source(self) -> Path:
        """The folder of the module, from the cache of Go, or fetched."""
        name = self.module.split("/")[-1]
        return GoProgram(name, self.module, self.version).source(os.environ)


BUNDLES = (
    Bundle("github.com/argoproj/argo-cd/v3", "v3.5.7", ("manifests/crds",)),
    Bundle("github.com/argoproj/argo-rollouts", "v1.10.1", ("manifests/crds", "test/e2e/crds")),
    Bundle("github.com/cert-manager/cert-manager", "v1.21.2", ("deploy/crds",)),
    Bundle("github.com/cilium/cilium", "v1.20.2", ("pkg/k8s/apis/cilium.io/client/crds",)),
    Bundle("github.com/envoyproxy/gateway", "v1.9.1", ("charts/gateway-helm/charts/crds/crds",)),
    Bundle("github.com/external-secrets/external-secrets", "v1.3.2", ("config/crds/bases",)),
    Bundle("github.com/kedacore/keda/v2", "v2.21.0", ("config/crd/bases",)),
    Bundle("github.com/kyverno/kyverno", "v1.19.1", ("config/crds",)),
    Bundle("github.com/projectcontour/contour", "v1.33.8", ("examples/contour",)),
    Bundle(
        "github.com/prometheus-operator/prometheus-operator",
        "v0.85.0",
        ("example/prometheus-operator-crd-full",),
    ),
    Bundle("github.com/vmware-tanzu/velero", "v1.18.3", ("config/crd",)),
    Bundle(
        "istio.io/istio",
        "v0.0.0-20260827124520-eed52ebb66ad",
        ("manifests/charts/base/files",),
    ),
    Bundle("knative.dev/serving", "v0.51.0", ("config/core/300-resources",)),
    Bundle(
        "sigs.k8s.io/cluster-api",
        "v1.14.2",
        (
            "core/config/crd/bases",
            "bootstrap/kubeadm/config/crd/bases",
            "controlplane/kubeadm/config/crd/bases",
            "test/infrastructure/docker/config/crd/bases",
        ),
    ),
    Bundle("sigs.k8s.io/cluster-api-provider-aws/v2", "v2.13.0", ("config/crd/bases",)),
    Bundle("github.com/fluxcd/kustomize-controller", "v1.6.0", ("config/crd/bases",)),
    Bundle("github.com/kubernetes-csi/external-snapshotter/client/v8", "v8.6.0", ("config/crd",)),
    Bundle("go.universe.tf/metallb", "v0.15.2", ("config/crd/bases",)),
    Bundle("sigs.k8s.io/gateway-api", "v1.5.0", ("config/crd/standard",)),
    Bundle("sigs.k8s.io/external-dns", "v0.20.0", ("config/crd/standard",)),
    Bundle("sigs.k8s.io/karpenter", "v1.8.0", ("pkg/apis/crds",)),
    Bundle("github.com/cloudnative-pg/cloudnative-pg", "v1.25.0", ("config/crd/bases",)),
    Bundle("github.com/crossplane/crossplane", "v1.20.0", ("cluster/crds",)),
    Bundle("github.com/kubeflow/training-operator", "v1.8.1", ("manifests/base/crds",)),
    Bundle("github.com/open-policy-agent/gatekeeper/v3", "v3.23.1", ("charts/gatekeeper/crds",)),
    Bundle(
        "github.com/traefik/traefik/v3",
        "v3.7.13",
        ("docs/content/reference/dynamic-configuration",),
    ),
    Bundle("sigs.k8s.io/cluster-api-operator", "v0.29.0", ("config/crd/bases",)),
    Bundle("sigs.k8s.io/kueue", "v0.10.0", ("config/components/crd/bases",)),
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
