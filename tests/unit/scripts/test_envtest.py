"""What envtest promises, without Go and without a cluster."""

import base64
from pathlib import Path

import pytest

from envtest import RealCluster, flags
from envtest.__main__ import prepare
from envtest.access import Access, kubeconfig, token_line, write_secret
from envtest.binaries import (
    ALL,
    PAIR,
    SCHEDULER,
    TESTED,
    cached,
    kubectl_of,
    locate,
    other_kubectls,
)
from envtest.build import provide, provide_kubectl, recipes
from envtest.existing import access, disposable
from envtest.flags import Layout
from foreign.errors import ProgramError
from quintant.version import KUBERNETES


def programs(folder: Path, *names: str) -> Path:
    """Fill a folder with programs of the given names."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).touch(mode=0o755)
    return folder


class TestFinding:
    def test_every_program_has_a_recipe(self) -> None:
        assert set(recipes(KUBERNETES)) == {*ALL, SCHEDULER}

    def test_named_assets_win_over_the_cache(self, tmp_path: Path) -> None:
        environ = {
            "KUBEBUILDER_ASSETS": str(programs(tmp_path / "assets", *PAIR)),
            "QUINTANT_CACHE": str(tmp_path),
        }
        programs(cached(environ), *ALL)

        assert locate(environ) == tmp_path / "assets"

    def test_assets_that_lack_a_program_are_an_error(self, tmp_path: Path) -> None:
        environ = {"KUBEBUILDER_ASSETS": str(programs(tmp_path, *PAIR))}
        with pytest.raises(ProgramError, match="no program named kube-controller-manager, kubectl"):
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
        with pytest.raises(ProgramError, match="no go command"):
            prepare({"QUINTANT_CACHE": str(tmp_path), "PATH": ""})

    def test_building_without_go_says_what_to_install(self, tmp_path: Path) -> None:
        with pytest.raises(ProgramError) as raised:
            provide({"QUINTANT_CACHE": str(tmp_path), "PATH": ""})

        what, why, hint = str(raised.value).splitlines()
        assert what == "cannot build etcd and kube-apiserver"
        assert why == "because: there is no go command on the PATH"
        assert hint.startswith("try: install Go")

    def test_only_what_is_needed_has_to_be_there(self, tmp_path: Path) -> None:
        environ = {"QUINTANT_CACHE": str(tmp_path), "PATH": ""}
        folder = programs(cached(environ), *TESTED)
        assert provide(environ, TESTED) == folder
        with pytest.raises(ProgramError):
            provide(environ, ALL)


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
        with pytest.raises(ProgramError, match="no certificate authority"):
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
