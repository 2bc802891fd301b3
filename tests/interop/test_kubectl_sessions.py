"""An older kubectl beside the newest: sessions with pods, debuggers, proxies, certificates.

These are the tests of tests/node, with the programs that people have.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from conformance.kubectl import Kubectl, Outcome
from conformance.target import until
from envtest.binaries import KUBECTL
from envtest.build import provide, provide_kubectl
from foreign.errors import ProgramError
from interop.conftest import Aloud
from node.test_kubectl_debug import (
    test_a_debugger_runs_beside_the_containers_of_a_pod,
    test_a_debugger_that_waits_for_input_is_attached_to_again,
    test_one_speaks_with_a_debugger_in_a_terminal,
    test_run_gives_its_input_to_the_container_and_removes_the_pod,
)
from node.test_kubectl_streams import (
    node,
    test_attach_shows_what_a_container_prints_until_it_ends,
    test_cp_copies_files_and_folders_both_ways,
    test_exec_prints_what_the_command_does_and_ends_as_it_did,
    test_exec_with_a_terminal_is_one,
    test_exec_with_input_ends_with_it,
    test_kubectl_proxy_leads_to_pods_and_services,
    test_pods_and_services_are_reached_through_the_server,
    test_ports_are_forwarded,
    test_refusals_are_shown_in_the_servers_words,
)
from unit.cluster.certificates import certificate_request

__all__ = [
    "node",
    "test_a_debugger_runs_beside_the_containers_of_a_pod",
    "test_a_debugger_that_waits_for_input_is_attached_to_again",
    "test_attach_shows_what_a_container_prints_until_it_ends",
    "test_cp_copies_files_and_folders_both_ways",
    "test_exec_prints_what_the_command_does_and_ends_as_it_did",
    "test_exec_with_a_terminal_is_one",
    "test_exec_with_input_ends_with_it",
    "test_kubectl_proxy_leads_to_pods_and_services",
    "test_one_speaks_with_a_debugger_in_a_terminal",
    "test_pods_and_services_are_reached_through_the_server",
    "test_ports_are_forwarded",
    "test_refusals_are_shown_in_the_servers_words",
    "test_run_gives_its_input_to_the_container_and_removes_the_pod",
]
OLDER, NEWEST = "v1.30.14", "newest"


@pytest.fixture(params=[OLDER, NEWEST])
def kubectl(request: pytest.FixtureRequest, tmp_path: Path, aloud: Aloud) -> Kubectl:
    """The kubectl of a release, built in the cache where it is missing."""
    try:
        with aloud():
            if request.param == NEWEST:
                program = provide(os.environ, (KUBECTL,)) / KUBECTL
            else:
                program = provide_kubectl(os.environ, request.param)
    except ProgramError as error:
        pytest.skip(str(error))
    return Kubectl(program, tmp_path / "kubeconfig", tmp_path / "cache", "default")


REQUEST = """
apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: {{name: alice}}
spec:
  request: {request}
  signerName: kubernetes.io/kube-apiserver-client
  usages: [client auth]
"""


async def test_a_certificate_is_approved_and_issued(kubectl: Kubectl, kubeconfig: Path) -> None:
    assert kubectl.kubeconfig == kubeconfig
    request = certificate_request("alice")
    await kubectl("apply", "-f", "-", given=REQUEST.format(request=request))
    approved = await kubectl("certificate", "approve", "alice")
    assert approved == "certificatesigningrequest.certificates.k8s.io/alice approved\n"

    async def issued() -> Outcome:
        return await kubectl.run("get", "csr", "alice", "-o", "jsonpath={.status.certificate}")

    found = await until(issued, lambda outcome: bool(outcome.out))
    assert found.out.startswith("LS0t"), "a certificate, in base64"
