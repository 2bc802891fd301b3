"""What envtest promises, without Go and without a cluster."""

import base64
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from envtest import EnvtestError, RealCluster, flags, process
from envtest.__main__ import prepare
from envtest.access import Access, kubeconfig, token_line, write_secret
from envtest.binaries import ALL, PAIR, cached, kubectl_of, locate, other_kubectls
from envtest.build import RECIPES, provide, provide_kubectl
from envtest.existing import access, disposable
from envtest.flags import Layout
from envtest.go import Tally
from envtest.gomod import Module, linker_flags, main_module, staged, staging_version
from envtest.process import Child, free_ports, scratch
from quintant.version import KUBERNETES

ANSWER_SECONDS = 20.0

GOMOD = """\
module k8s.io/kubernetes

go 1.26.0

require (
\tgithub.com/blang/semver/v4 v4.0.0
\tk8s.io/api v0.0.0
\tk8s.io/klog/v2 v2.130.1
)

replace (
\tk8s.io/api => ./staging/src/k8s.io/api
\tk8s.io/client-go => ./staging/src/k8s.io/client-go
\texample.com/fork => example.com/other v1.0.0
)

replace k8s.io/kms => ./staging/src/k8s.io/kms
"""

MODULE = Module("k8s.io/kubernetes", "v1.36.3", GOMOD, "2026-01-02T03:04:05Z")


def programs(folder: Path, *names: str) -> Path:
    """Fill a folder with programs of the given names."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).touch(mode=0o755)
    return folder


class TestGoModules:
    def test_exactly_the_staging_replacements_are_found(self) -> None:
        assert staged(GOMOD) == ("k8s.io/api", "k8s.io/client-go", "k8s.io/kms")

    def test_main_module_replaces_staging_folders_by_published_modules(self) -> None:
        assert main_module(MODULE).split("\n\n") == [
            "module quintant.dev/envtest",
            "go 1.26.0",
            "require k8s.io/kubernetes v1.36.3",
            "replace k8s.io/api => k8s.io/api v0.36.3",
            "replace k8s.io/client-go => k8s.io/client-go v0.36.3",
            "replace k8s.io/kms => k8s.io/kms v0.36.3\n",
        ]

    def test_module_without_staging_needs_no_replacement(self) -> None:
        etcd = Module("go.etcd.io/etcd/server/v3", "v3.6.16", "module x\n\ngo 1.25\n", "")
        assert "replace" not in main_module(etcd)

    @pytest.mark.parametrize(
        ("release", "staging"),
        [("v1.36.3", "v0.36.3"), ("v1.37.0-rc.1", "v0.37.0-rc.1")],
    )
    def test_staging_modules_share_minor_and_patch(self, release: str, staging: str) -> None:
        assert staging_version(release) == staging

    def test_unknown_form_of_release_is_refused(self) -> None:
        with pytest.raises(ValueError, match="such as v1"):
            staging_version("1.36")

    def test_go_mod_without_language_is_refused(self) -> None:
        with pytest.raises(ValueError, match=r"such as 'go 1\.26\.0'"):
            main_module(Module("k8s.io/kubernetes", "v1.36.3", "module x\n", ""))

    def test_kubernetes_programs_know_their_version(self) -> None:
        text = linker_flags(MODULE)
        assert "-X k8s.io/component-base/version.gitVersion=v1.36.3" in text
        assert "-X k8s.io/component-base/version.gitMinor=36" in text
        assert "-X k8s.io/client-go/pkg/version.buildDate=2026-01-02T03:04:05Z" in text

    def test_etcd_gets_no_kubernetes_version(self) -> None:
        assert linker_flags(Module("go.etcd.io/etcd/server/v3", "v3.6.16", "", "")) == "-s -w"

    def test_every_program_has_a_recipe(self) -> None:
        assert set(RECIPES) == set(ALL)


class TestFinding:
    def test_named_assets_win_over_the_cache(self, tmp_path: Path) -> None:
        environ = {
            "KUBEBUILDER_ASSETS": str(programs(tmp_path / "assets", *PAIR)),
            "QUINTANT_CACHE": str(tmp_path),
        }
        programs(cached(environ), *ALL)

        assert locate(environ) == tmp_path / "assets"

    def test_assets_that_lack_a_program_are_an_error(self, tmp_path: Path) -> None:
        environ = {"KUBEBUILDER_ASSETS": str(programs(tmp_path, *PAIR))}
        with pytest.raises(EnvtestError, match="no program named kube-controller-manager, kubectl"):
            locate(environ, ALL)

    def test_complete_cache_is_used(self, tmp_path: Path) -> None:
        environ = {"QUINTANT_CACHE": str(tmp_path)}
        folder = programs(cached(environ), *ALL)

        assert locate(environ, ALL) == folder

    def test_incomplete_cache_asks_for_a_build(self, tmp_path: Path) -> None:
        environ = {"QUINTANT_CACHE": str(tmp_path)}
        programs(cached(environ), *PAIR)

        assert locate(environ, PAIR) is not None
        assert locate(environ, ALL) is None

    @pytest.mark.parametrize(
        ("environ", "cache"),
        [
            ({"QUINTANT_CACHE": "/q", "XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/q"),
            ({"XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/x/quintant"),
            ({"HOME": "/h"}, "/h/.cache/quintant"),
            ({"QUINTANT_CACHE": "", "XDG_CACHE_HOME": "", "HOME": "/h"}, "/h/.cache/quintant"),
        ],
    )
    def test_cache_is_outside_the_repository_and_keyed_by_version(
        self, environ: dict[str, str], cache: str
    ) -> None:
        assert cached(environ) == Path(cache) / f"kubernetes-{KUBERNETES}" / "bin"

    def test_kubectls_of_other_releases_are_found_where_they_were_built(
        self, tmp_path: Path
    ) -> None:
        environ = {"QUINTANT_CACHE": str(tmp_path)}
        assert other_kubectls(environ) == ()
        built = [kubectl_of(environ, version) for version in ("v1.27.3", "v1.30.14")]
        for program in built:
            programs(program.parent, program.name)
        programs(cached(environ), "kubectl")
        assert other_kubectls(environ) == tuple(built)
        assert provide_kubectl(environ, "v1.30.14") == built[1]

    @pytest.mark.parametrize(
        "offered",
        [
            {"KUBEBUILDER_ASSETS": "/assets"},
            {"KUBECONFIG": "/kubeconfig", "QUINTANT_DISPOSABLE": "1"},
        ],
    )
    def test_nothing_is_prepared_where_a_cluster_is_at_hand(
        self, tmp_path: Path, offered: dict[str, str]
    ) -> None:
        prepare({"QUINTANT_CACHE": str(tmp_path), "PATH": "", **offered})

        assert list(tmp_path.iterdir()) == []

    def test_preparing_builds_where_none_is(self, tmp_path: Path) -> None:
        with pytest.raises(EnvtestError, match="no go command"):
            prepare({"QUINTANT_CACHE": str(tmp_path), "PATH": ""})

    def test_building_without_go_says_what_to_install(self, tmp_path: Path) -> None:
        with pytest.raises(EnvtestError) as raised:
            provide({"QUINTANT_CACHE": str(tmp_path), "PATH": ""})

        what, why, hint = str(raised.value).splitlines()
        assert what == "cannot build etcd and kube-apiserver"
        assert why == "because: there is no go command on the PATH"
        assert hint.startswith("try: install Go")


class TestProgress:
    def test_modules_packages_and_complaints_are_told_apart(self) -> None:
        tally = Tally()
        for line in (
            "go: downloading k8s.io/api v0.36.3",
            "internal/abi",
            "k8s.io/api/core/v1",
            "go: k8s.io/api@v0.36.3: no such host",
        ):
            tally.feed(line)

        assert (tally.modules, tally.packages) == (1, 2)
        assert list(tally.complaints) == ["go: k8s.io/api@v0.36.3: no such host"]
        assert tally.text(65.9) == "1 modules fetched, 2 packages compiled, 1:05"

    def test_fetched_modules_are_not_mentioned_where_there_are_none(self) -> None:
        assert Tally(packages=7).text(3) == "7 packages compiled, 0:03"


class TestAccess:
    def test_kubeconfig_has_one_current_context_with_token_and_authority(self) -> None:
        assert kubeconfig("https://127.0.0.1:1", "secret", b"pem") == {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "envtest",
            "clusters": [
                {
                    "name": "envtest",
                    "cluster": {
                        "server": "https://127.0.0.1:1",
                        "certificate-authority-data": base64.b64encode(b"pem").decode(),
                    },
                }
            ],
            "users": [{"name": "admin", "user": {"token": "secret"}}],
            "contexts": [{"name": "envtest", "context": {"cluster": "envtest", "user": "admin"}}],
        }

    def test_token_makes_an_administrator(self) -> None:
        assert token_line("secret") == 'secret,admin,admin,"system:masters"\n'

    def test_secrets_are_readable_by_their_owner_only(self, tmp_path: Path) -> None:
        path = write_secret(tmp_path / "kubeconfig", {"kind": "Config"})
        assert path.stat().st_mode & 0o777 == 0o600

    def test_token_is_not_printed_with_its_access(self) -> None:
        assert "secret" not in repr(Access("https://x", "secret", Path("ca"), Path("config")))


class TestExistingCluster:
    @pytest.mark.parametrize(
        ("environ", "used"),
        [
            ({}, False),
            ({"KUBECONFIG": "/config"}, False),
            ({"QUINTANT_DISPOSABLE": "1"}, False),
            ({"KUBECONFIG": "/config", "QUINTANT_DISPOSABLE": ""}, False),
            ({"KUBECONFIG": "/config", "QUINTANT_DISPOSABLE": "0"}, False),
            ({"KUBECONFIG": "/config", "QUINTANT_DISPOSABLE": "1"}, True),
        ],
    )
    def test_kubeconfig_is_used_only_when_declared_disposable(
        self, environ: dict[str, str], used: bool
    ) -> None:
        assert disposable(environ) is used

    def test_access_comes_from_the_kubeconfig(self, tmp_path: Path) -> None:
        found = access(kubeconfig("https://127.0.0.1:1", "secret", b"pem"), tmp_path)

        assert (found.server, found.token) == ("https://127.0.0.1:1", "secret")
        assert found.ca.read_bytes() == b"pem"

    def test_kubeconfig_without_authority_is_refused(self, tmp_path: Path) -> None:
        document = {"clusters": [{"cluster": {"server": "https://x"}}], "users": None}
        with pytest.raises(EnvtestError, match="no certificate authority"):
            access(document, tmp_path)

    def test_cluster_that_is_not_running_has_no_address(self) -> None:
        cluster = RealCluster(environ={})
        with pytest.raises(RuntimeError, match="not running"):
            _ = cluster.server
        assert cluster.pids == {}


class TestFlags:
    LAYOUT = Layout(Path("/folder"), client_port=1, peer_port=2, secure_port=3)

    def test_everything_listens_on_loopback_only(self) -> None:
        assert "--listen-client-urls=http://127.0.0.1:1" in flags.etcd(self.LAYOUT)
        assert "--listen-peer-urls=http://127.0.0.1:2" in flags.etcd(self.LAYOUT)
        assert "--bind-address=127.0.0.1" in flags.apiserver(self.LAYOUT, controllers=False)
        assert "--bind-address=127.0.0.1" in flags.manager(self.LAYOUT)

    def test_rbac_is_enforced(self) -> None:
        assert "--authorization-mode=RBAC" in flags.apiserver(self.LAYOUT, controllers=True)

    def test_pods_need_a_service_account_only_with_controllers(self) -> None:
        plugin = "--disable-admission-plugins=ServiceAccount"
        assert plugin in flags.apiserver(self.LAYOUT, controllers=False)
        assert plugin not in flags.apiserver(self.LAYOUT, controllers=True)


class TestProcesses:
    def test_ports_are_distinct(self) -> None:
        assert len(set(free_ports(50))) == 50

    def test_stopped_child_is_gone(self, tmp_path: Path) -> None:
        child = Child(("sleep", "60"), tmp_path / "log")
        child.check()
        child.stop()

        with pytest.raises(ProcessLookupError):
            os.kill(child.pid, 0)

    def test_child_that_ended_shows_the_end_of_its_log(self, tmp_path: Path) -> None:
        child = Child(("sh", "-c", "echo reason >&2; exit 3"), tmp_path / "log")
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)

        with pytest.raises(EnvtestError, match="it ended with code 3") as raised:
            child.check()
        assert raised.value.__notes__ == ["--- the last lines of sh:\nreason"]

    @pytest.mark.skipif(sys.platform != "linux", reason="only Linux kills a child with its parent")
    def test_child_dies_with_a_killed_parent(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "life")
        life = os.open(tmp_path / "life", os.O_RDONLY | os.O_NONBLOCK)
        parent = _parent_of(("sh", "-c", "exec >life; echo born; exec sleep 60"), tmp_path)

        assert _next(life) == b"born\n"
        parent.send_signal(signal.SIGKILL)
        parent.wait()

        # The end of the stream: the only process that held it is dead.
        assert _next(life) == b""
        os.close(life)

    def test_folder_is_removed_afterwards(self, tmp_path: Path) -> None:
        with scratch(tmp_path) as folder:
            (folder / "data").mkdir()
        assert not list(tmp_path.iterdir())

    def test_folder_in_use_survives_its_neighbours(self, tmp_path: Path) -> None:
        with scratch(tmp_path) as first, scratch(tmp_path) as second:
            assert first.is_dir()
            assert second.is_dir()

    def test_folder_of_a_killed_process_is_removed_by_the_next(self, tmp_path: Path) -> None:
        code = (
            "import os, pathlib, signal; from envtest.process import scratch\n"
            "with scratch(pathlib.Path.cwd()): os.kill(os.getpid(), signal.SIGKILL)"
        )
        _python(code, tmp_path).wait()
        assert len(list(tmp_path.iterdir())) == 1

        with scratch(tmp_path) as folder:
            assert list(tmp_path.iterdir()) == [folder]


def _parent_of(command: tuple[str, ...], folder: Path) -> subprocess.Popen[bytes]:
    code = (
        "import pathlib, signal; from envtest.process import Child\n"
        f"child = Child({command!r}, pathlib.Path('log'))\n"
        "signal.pause()"
    )
    return _python(code, folder)


def _python(code: str, folder: Path) -> subprocess.Popen[bytes]:
    scripts = Path(process.__file__).parent.parent
    environ = {**os.environ, "PYTHONPATH": str(scripts)}
    return subprocess.Popen([sys.executable, "-c", code], cwd=folder, env=environ)


def _next(stream: int) -> bytes:
    ready, _, _ = select.select([stream], [], [], ANSWER_SECONDS)
    assert ready, f"nothing happened in {ANSWER_SECONDS} s"
    return os.read(stream, 100)
