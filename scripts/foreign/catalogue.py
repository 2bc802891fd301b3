"""Every program of others that tests and benchmarks use beside Kubernetes, with its version."""

from collections.abc import Mapping
from pathlib import Path

from foreign import agnhost_changes
from foreign.explored_operators import OPERATORS
from foreign.go_program import GoProgram
from foreign.python_program import PythonProgram, requirements
from foreign.source_change import SourceChange
from quintant.version import KUBERNETES

_SCRIPTS = Path(__file__).parents[1]

_ACTIONLINT = "github.com/rhysd/actionlint"
ACTIONLINT = GoProgram("actionlint", _ACTIONLINT, "v1.7.12", f"{_ACTIONLINT}/cmd/actionlint")
"""Reads workflows of hosted CI as their runner does."""
_KUBERNETES = "k8s.io/kubernetes"
AGNHOST = GoProgram(
    "agnhost",
    _KUBERNETES,
    KUBERNETES,
    f"{_KUBERNETES}/test/images/agnhost",
    changes=agnhost_changes.CHANGES,
)
"""The program of most containers of Kubernetes' own tests: servers, webhooks, name lookups."""
_ROLLOUTS = "github.com/argoproj/argo-rollouts"
ARGO_ROLLOUTS = GoProgram(
    "argo-rollouts", _ROLLOUTS, "v1.10.1", f"{_ROLLOUTS}/cmd/rollouts-controller"
)
_CERT_MANAGER = "github.com/cert-manager/cert-manager"


def _cert_manager(program: str) -> GoProgram:
    # Later releases keep their programs in modules that Go's proxy does not have.
    return GoProgram(
        f"cert-manager-{program}", _CERT_MANAGER, "v1.11.5", f"{_CERT_MANAGER}/cmd/{program}"
    )


CERT_MANAGER_CAINJECTOR = _cert_manager("cainjector")
CERT_MANAGER_CONTROLLER = _cert_manager("controller")
CERT_MANAGER_WEBHOOK = _cert_manager("webhook")
CHISEL = GoProgram("chisel", "github.com/jpillora/chisel", "v1.10.1")
_CONTROLLER_RUNTIME = "sigs.k8s.io/controller-runtime"
CONTROLLER_RUNTIME = GoProgram("controller-runtime", _CONTROLLER_RUNTIME, "v0.24.1")
"""A library: its own tests are built and run, and no program of it."""
CLIENT_TESTS = GoProgram(
    "controller-runtime-client-tests",
    _CONTROLLER_RUNTIME,
    CONTROLLER_RUNTIME.version,
    f"{_CONTROLLER_RUNTIME}/pkg/client",
    tests=True,
)
"""Those of its client: the suite that `make bench` has other clusters pass beside ours."""
_COMET = "github.com/cometbft/cometbft"
COMETBFT = GoProgram("cometbft", _COMET, "v0.38.17", f"{_COMET}/cmd/cometbft")
PRIV_VAL_SERVER = GoProgram("priv_val_server", _COMET, "v0.38.17", f"{_COMET}/cmd/priv_val_server")
"""CometBFT's own remote signer."""
CRDIFY = GoProgram("crdify", "sigs.k8s.io/crdify", "v0.6.0")
"""OLM's judge of changes to definitions."""
SAMPLE_APISERVER = GoProgram(
    "sample-apiserver", "k8s.io/sample-apiserver", f"v0.{KUBERNETES.partition('.')[2]}"
)
"""An extension server, made with Kubernetes' own library."""
E2E = GoProgram("e2e", _KUBERNETES, KUBERNETES, f"{_KUBERNETES}/test/e2e", tests=True)
"""Kubernetes' own end-to-end tests; a quarter of an hour to build, 200 MB."""
_FRP = "github.com/fatedier/frp"
FRPS = GoProgram("frps", _FRP, "v0.65.0", f"{_FRP}/cmd/frps")
FRPC = GoProgram("frpc", _FRP, "v0.65.0", f"{_FRP}/cmd/frpc")
_HELM = "helm.sh/helm/v4"
HELM = GoProgram("helm", _HELM, "v4.3.1", f"{_HELM}/cmd/helm")
K9S = GoProgram("k9s", "github.com/derailed/k9s", "v0.50.9")
"""A console in a terminal, for `make bench`."""
KUBE_STATE_METRICS = GoProgram("kube-state-metrics", "k8s.io/kube-state-metrics/v2", "v2.20.0")
_KWOK = "sigs.k8s.io/kwok"
KWOK = GoProgram("kwok", _KWOK, "v0.8.0", f"{_KWOK}/cmd/kwok")
_METACONTROLLER = "github.com/metacontroller/metacontroller"
METACONTROLLER = GoProgram(
    "metacontroller",
    "metacontroller",
    # The last release whose version is one for Go.
    "v1.5.20",
    source_path=_METACONTROLLER,
    # Those that it asks for know nothing of the maps of a newer Go.
    newer=("github.com/json-iterator/go v1.1.12", "github.com/modern-go/reflect2 v1.0.2"),
    sums=(
        f"{_METACONTROLLER} v1.5.20 h1:uRuj/1LRa5FkZyiMrx+b1Ei/lplmDNeArd0XXrOUNtk=",
        f"{_METACONTROLLER} v1.5.20/go.mod h1:9tm+EROn6hYzGHw4WSqAKq4I3deezpeJjsOmOMjw8M0=",
    ),
)
_IBC = "github.com/cosmos/ibc-go/v8"
SIMD = GoProgram(
    "simd",
    _IBC,
    "v8.8.0",
    f"{_IBC}/testing/simapp/simd",
    # The one that it asks for does not build with a newer Go.
    newer=("github.com/bytedance/sonic v1.15.5",),
)
"""A chain of the Cosmos SDK; minutes to build, for `make interop`."""

_SHIFU = "github.com/edgenesis/shifu"
_BASE = "pkg/deviceshifu/deviceshifubase"
_IN_CLUSTER = """\
		folder := os.Getenv("QUINTANT_SERVICE_ACCOUNT")
		if folder == "" {
			return rest.InClusterConfig()
		}
		host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
		return &rest.Config{
			Host:            "https://" + net.JoinHostPort(host, port),
			BearerTokenFile: folder + "/token",
			TLSClientConfig: rest.TLSClientConfig{CAFile: folder + "/ca.crt"},
		}, nil
"""
_ON_A_NODE = (
    # The embedded node mounts nothing, and every pod has an address of its own on this machine.
    SourceChange(f"{_BASE}/deviceshifubase.go", '\t"net/http"\n', '\t"net/http"\n\t"os"\n'),
    SourceChange(
        f"{_BASE}/deviceshifubase.go",
        "NewDeviceShifuConfig(deviceShifuMetadata.ConfigFilePath)",
        'NewDeviceShifuConfig(os.Getenv("QUINTANT_ROOT") + deviceShifuMetadata.ConfigFilePath)',
    ),
    SourceChange(
        f"{_BASE}/deviceshifubase.go",
        "Addr:         DeviceDefaultPortStr,",
        'Addr:         os.Getenv("QUINTANT_POD_IP") + DeviceDefaultPortStr,',
    ),
    SourceChange(
        f"{_BASE}/deviceshifubase_config.go",
        '\t"errors"\n',
        '\t"errors"\n\t"net"\n\t"os"\n',
    ),
    SourceChange(
        f"{_BASE}/deviceshifubase_config.go", "\t\treturn rest.InClusterConfig()\n", _IN_CLUSTER
    ),
)
"""Listening address, config folder and account folder of upstream's agents, from variables."""


def _deviceshifu(protocol: str) -> GoProgram:
    return GoProgram(
        f"deviceshifu-{protocol}",
        _SHIFU,
        "v0.101.0",
        f"{_SHIFU}/cmd/deviceshifu/cmd{protocol}",
        changes=_ON_A_NODE,
    )


DEVICESHIFU_HTTP = _deviceshifu("http")
DEVICESHIFU_MQTT = _deviceshifu("mqtt")
DEVICESHIFU_SOCKET = _deviceshifu("socket")
SHIFU_CONTROLLER = GoProgram("shifu-controller", _SHIFU, "v0.101.0", f"{_SHIFU}/pkg/k8s/crd")
"""Upstream's controller, which follows devices and does nothing with them."""

_PORTAL = "gosuda.org/portal"
_ON_LOOPBACK = (
    SourceChange(
        "cmd/relay-server/main.go",
        'fmt.Sprintf(":%d", flagPort)',
        'fmt.Sprintf("127.0.0.1:%d", flagPort)',
    ),
)
PORTAL_RELAY = GoProgram(
    "portal-relay", _PORTAL, "v1.4.5", f"{_PORTAL}/cmd/relay-server", changes=_ON_LOOPBACK
)
"""Portal's relay, as old as the tunnel: visitors have to speak its protocol themselves."""
PORTAL_HTTP_RELAY = GoProgram(
    "portal-http-relay", _PORTAL, "v1.4.14", f"{_PORTAL}/cmd/relay-server", changes=_ON_LOOPBACK
)
"""The same protocol, and plain HTTP for visitors."""
PORTAL_TUNNEL = GoProgram("portal-tunnel", _PORTAL, "v1.4.5", f"{_PORTAL}/cmd/portal-tunnel")
"""Portal's tunnel."""

IM = PythonProgram(
    "im", requirements(_SCRIPTS / "infrastructure_manager" / "requirements.txt"), complete=True
)
"""Infrastructure Manager: GPL-3, so never imported, and without what its other clouds need."""
CYCLONEDX = PythonProgram("cyclonedx", ("cyclonedx-python-lib[json-validation]==11.12.0",))
"""CycloneDX' own library, with its schemas: what the image's SBOM is held to."""
ANSIBLE = PythonProgram("ansible", ("ansible==12.3.0", "kubernetes==36.0.2"))
"""Ansible with its collections, kubernetes.core among them, and the client that this one needs."""
BASEDPYRIGHT = PythonProgram("basedpyright", ("basedpyright==1.40.2",))
"""Pyright, which brings the Node.js that it runs on."""
KOPF = PythonProgram("kopf", ("kopf[dev]==1.45.2", "pykube-ng==23.6.0", "PyYAML==6.0.3"))
"""With what its own examples import beside it."""
KOPF_TESTS = PythonProgram(
    "kopf-tests",
    (
        *KOPF.requirements, "certbuilder==0.14.2", "certvalidator==0.11.1", "freezegun==1.5.5",
        "kmock==0.8", "kubernetes==37.0.2", "looptime==0.9", "pytest==9.2.0",
        "pytest-aiohttp==1.1.1", "pytest-asyncio==1.5.0", "pytest-mock==3.17.0",
        "pytest-timeout==2.4.0",
    ),
)  # fmt: skip
"""With what its own tests need."""
KR8S = PythonProgram("kr8s", ("kr8s==0.20.15",))
KUBERNETES_ASYNCIO = PythonProgram("kubernetes_asyncio", ("kubernetes_asyncio==36.1.0",))
LIGHTKUBE = PythonProgram("lightkube", ("lightkube==1.0.1",))
PROMQL_PARSER = PythonProgram("promql-parser", ("promql-parser==0.11.0",))
"""Reads PromQL by Prometheus' grammar; its own promtool takes longer than a quarter of an hour."""
TWINE = PythonProgram("twine", ("twine==7.0.0",))
"""Reads archives as the package index does."""
ZIZMOR = PythonProgram("zizmor", ("zizmor==1.32.0",))
"""Looks for what is dangerous in workflows of hosted CI."""
ZENSICAL = PythonProgram("zensical", ("zensical==0.0.73",))
"""Makes the website of `docs/`."""

PROGRAMS: Mapping[str, GoProgram | PythonProgram] = {
    program.name: program
    for program in (
        ACTIONLINT,
        AGNHOST,
        ANSIBLE,
        ARGO_ROLLOUTS,
        BASEDPYRIGHT,
        CERT_MANAGER_CAINJECTOR,
        CERT_MANAGER_CONTROLLER,
        CERT_MANAGER_WEBHOOK,
        CHISEL,
        CLIENT_TESTS,
        COMETBFT,
        CRDIFY,
        CYCLONEDX,
        DEVICESHIFU_HTTP,
        DEVICESHIFU_MQTT,
        DEVICESHIFU_SOCKET,
        E2E,
        FRPC,
        FRPS,
        HELM,
        IM,
        KOPF_TESTS,
        K9S,
        KOPF,
        KR8S,
        KUBE_STATE_METRICS,
        KUBERNETES_ASYNCIO,
        KWOK,
        LIGHTKUBE,
        METACONTROLLER,
        PORTAL_HTTP_RELAY,
        PORTAL_RELAY,
        PORTAL_TUNNEL,
        PRIV_VAL_SERVER,
        PROMQL_PARSER,
        SAMPLE_APISERVER,
        SHIFU_CONTROLLER,
        SIMD,
        TWINE,
        ZENSICAL,
        ZIZMOR,
        *OPERATORS,
    )
}
