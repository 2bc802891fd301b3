"""kstatus itself, and Argo CD's Lua, judge every kind in every phase."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from gitops.verdicts import JUDGE, judged
from interop.conftest import Aloud
from interop.go_sources import built
from interop.test_installing import Site, site
from manifests.gitops import judged_kinds
from testbeds.helm import Helm
from unit.operators.phases import PHASES
from unit.test_docs import DOCS, ROOT, blocks

__all__ = ["site"]

PAGE = DOCS / "gitops.md"
CLASS = """\
apiVersion: portal.gosuda.org/v1alpha1
kind: TunnelClass
metadata: {name: small}
spec: {replicas: 1, size: small}
"""
READY = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
FLUX = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: kustomizations.kustomize.toolkit.fluxcd.io}
spec:
  group: kustomize.toolkit.fluxcd.io
  scope: Namespaced
  names: {kind: Kustomization, plural: kustomizations}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
"""
APPS = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {interval: 10m, path: ./apps}
"""


@pytest.fixture
def program(aloud: Aloud) -> Path:
    """The program with kstatus and gopher-lua."""
    with aloud():
        return built(JUDGE)


def test_each_phase_is_judged_as_what_it_is(program: Path) -> None:
    found = judged(program, [each.wire for each in PHASES])
    names = [each.name for each in PHASES]
    wanted = [(each.verdict, each.health) for each in PHASES]
    assert dict(zip(names, found, strict=True)) == dict(zip(names, wanted, strict=True))


def test_a_newer_spec_is_waited_for_and_a_deletion_is_seen(program: Path) -> None:
    newer, going = [], []
    for each in PHASES:
        wire = each.wire
        meta = {**wire["metadata"], "generation": wire["metadata"]["generation"] + 1}
        newer.append({**wire, "metadata": meta})
        meta = {**wire["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}
        going.append({**wire, "metadata": meta})
    assert set(judged(program, newer)) == {("InProgress", "Progressing")}
    assert set(judged(program, going)) == {("Terminating", "Progressing")}


def test_what_nobody_has_looked_at_is_not_healthy_to_argo(program: Path) -> None:
    # To kstatus, what has no status at all is current: docs/gitops.md has what Flux needs for it.
    bare = [{**each.wire, "status": {}} for each in PHASES]
    paused = {("Current", "Suspended")}
    assert set(judged(program, bare)) - paused == {("Current", "Progressing")}


def test_every_command_of_the_page_works(site: Site) -> None:
    site.shell(f"kubectl apply -k {ROOT}/deploy/portal/crds")
    site.shell("kubectl apply -f -", FLUX)
    site.shell("kubectl wait crds --all --for=condition=Established --timeout=60s")
    for command in ("create namespace argocd", "create namespace flux-system", "apply -f -"):
        site.shell(f"kubectl {command}", CLASS)
    site.shell("kubectl create configmap argocd-cm -n argocd --from-literal=url=kept")
    site.shell("kubectl apply -f -", APPS)
    ready = json.dumps(READY)
    site.shell(f"kubectl patch tunnelclass small --subresource status --type merge -p '{ready}'")
    for block in blocks(PAGE):
        if block.info == "sh":
            site.shell(block.text)
    data = json.loads(site.shell("kubectl get configmap argocd-cm -n argocd -o json"))["data"]
    assert (data.pop("url"), len(data)) == ("kept", len(list(judged_kinds())))
    kind = "kustomizations.kustomize.toolkit.fluxcd.io"
    spec = json.loads(site.shell(f"kubectl get {kind} apps -n flux-system -o json"))["spec"]
    assert (spec["path"], len(spec["healthCheckExprs"])) == ("./apps", len(data))


def test_the_examples_of_the_page_name_charts_and_values_that_are_there(
    helm: Helm, tmp_path: Path
) -> None:
    releases = list(charts_of_the_page())
    assert [chart for chart, _ in releases] == [
        f"deploy/charts/{name}" for name in ("quintant-crds", "quintant") * 2
    ]
    for chart, values in releases:
        (tmp_path / "values.json").write_text(json.dumps(values))
        helm("template", "one", str(ROOT / chart), "--values", str(tmp_path / "values.json"))


def charts_of_the_page() -> Iterator[tuple[str, Any]]:
    """Chart and values of every Application and HelmRelease."""
    for block in blocks(PAGE):
        for each in yaml.safe_load_all(block.text) if block.info == "yaml" else ():
            spec = each["spec"]
            if each["kind"] == "Application":
                yield spec["source"]["path"], spec["source"]["helm"]["valuesObject"]
            elif each["kind"] == "HelmRelease":
                yield spec["chart"]["spec"]["chart"], spec["values"]
