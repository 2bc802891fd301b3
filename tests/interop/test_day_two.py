"""Pages about the second day on an embedded cluster: their commands in order.

What needs containers is in tests/cluster: `make test-cluster FULL=1`.
"""

from __future__ import annotations

from cluster.pages import commands as section
from interop.test_installing import Site, site
from quintant.version import QUINTANT
from unit.test_docs import DOCS, ROOT, blocks

__all__ = ["site"]


def type_page(site: Site, page: str) -> None:
    """Every shell block of a page, in order, in a folder that has `deploy`."""
    (site.folder / "deploy").symlink_to(ROOT / "deploy")
    for block in blocks(DOCS / page):
        if block.info == "sh":
            site.shell(block.text, folder=site.folder)


def test_charts_that_were_carried_over_install_an_operator(site: Site) -> None:
    type_page(site, "air-gapped.md")
    assert site.names("deployments", "-n quintant") == {"klight"}
    template = "{.spec.template.spec.containers[0]"
    command = "kubectl -n quintant get deployment klight -o"
    assert site.shell(f"{command} jsonpath='{template}.imagePullPolicy}}'") == "Never"


def test_operators_of_ours_come_after_the_originals(site: Site) -> None:
    type_page(site, "moving.md")
    found = site.names("deployments", "-A")
    assert {"klight", "cosmos-operator", "shifu"} <= found


def test_what_was_backed_up_is_restored(site: Site) -> None:
    site.shell("kubectl apply -k deploy/portal/crds && kubectl apply -k deploy/shifu/crds")
    site.shell("kubectl apply -k deploy/cosmos/crds && kubectl apply -k deploy/infra/crds")
    (site.folder / "deploy").symlink_to(ROOT / "deploy")
    saving, restoring = (each.text for each in blocks(DOCS / "backup.md") if each.info == "sh")
    site.shell("kubectl apply -f -", TUNNEL_CLASS)
    site.shell(saving, folder=site.folder)
    site.shell("kubectl delete -k deploy/portal/crds")
    site.shell(restoring, folder=site.folder)
    assert site.names("tunnelclasses") == {"kept"}


TUNNEL_CLASS = """\
apiVersion: portal.gosuda.org/v1alpha1
kind: TunnelClass
metadata: {name: kept}
spec: {replicas: 1, size: small}
"""


def test_an_operator_gets_the_memory_that_the_page_says(site: Site) -> None:
    cosmos = ("--namespace", "quintant", "--set", "operators.cosmos.enabled=true")
    site.helm(
        "install", "quintant", f"{ROOT}/deploy/charts/quintant", "--create-namespace", *cosmos
    )
    type_page(site, "sizing.md")
    path = "{.spec.template.spec.containers[0].resources.limits.memory}"
    command = f"kubectl -n quintant get deployment cosmos-operator -o jsonpath='{path}'"
    assert site.shell(command) == "256Mi"


def test_an_upgrade_is_taken_back(site: Site) -> None:
    quintant = ("--namespace", "quintant", "--set", "operators.shifu.enabled=true")
    chart = f"{ROOT}/deploy/charts/quintant"
    site.shell("kubectl create namespace devices; kubectl create namespace shifu-service")
    site.shell("kubectl create namespace deviceshifu; kubectl apply -k deploy/klight")
    site.helm("install", "quintant", chart, "--create-namespace", *quintant)
    site.helm("upgrade", "quintant", chart, *quintant, "--set", "image.tag=wrong")
    site.shell("kubectl -n klight-system set image deployment/klight klight=quintant:wrong")
    assert image(site, "quintant", "shifu") == "quintant:wrong"
    for block in section("upgrading.md", "Go back"):
        site.shell(block)
    assert image(site, "quintant", "shifu") == f"quintant:{QUINTANT}"
    assert image(site, "klight-system", "klight") == f"quintant:{QUINTANT}"


def image(site: Site, namespace: str, name: str) -> str:
    path = "{.spec.template.spec.containers[0].image}"
    return site.shell(f"kubectl -n {namespace} get deployment {name} -o jsonpath='{path}'")
