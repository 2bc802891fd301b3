"""Gates, versions and plugins: what there is may be asked for, and nothing else."""

from __future__ import annotations

import pytest

from quintant.cli.envtest.feature_flags import (
    absent_plugins,
    check_gates,
    check_runtime,
    disabled_plugins,
)
from quintant.cli.envtest.flag_set import FlagError
from quintant.cli.envtest.known_words import DEFAULT_PLUGINS, GATES_OFF, GATES_ON, PLUGINS


def test_gates_may_be_set_to_what_they_are() -> None:
    check_gates([f"{name}=true" for name in sorted(GATES_ON)])
    check_gates([f"kube:{name}=false" for name in sorted(GATES_OFF)])


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        ("WatchList=false", "--feature-gates=WatchList=false is not supported here"),
        ("AllAlpha=true", "--feature-gates=AllAlpha=true is not supported here"),
        ("Nope=true", "unrecognized feature gate: Nope"),
        ("WatchList", "expected name=true or name=false"),
        ("WatchList=maybe", "expected name=true or name=false"),
    ],
)
def test_gates_are_not_moved(setting: str, why: str) -> None:
    with pytest.raises(FlagError, match=why):
        check_gates([setting])


def test_versions_that_are_served_may_be_asked_for() -> None:
    check_runtime(["apps/v1=true", "batch/v1", "v1=true", "api/ga=true"])
    check_runtime(["api/beta=false", "api/alpha=false", "resource.k8s.io/v1beta1=false"])


@pytest.mark.parametrize(
    "setting",
    ["api/all=true", "api/all=false", "api/alpha=true", "resource.k8s.io/v1beta1", "apps/v1=false"],
)
def test_other_versions_are_refused_by_name(setting: str) -> None:
    with pytest.raises(FlagError, match=f"--runtime-config={setting} is not supported here"):
        check_runtime([setting])


def test_plugins_that_there_are_can_be_left_out() -> None:
    assert disabled_plugins([], []) == {"ResourceQuota"}
    found = disabled_plugins(["Priority"], ["ServiceAccount", "LimitRanger", "PodSecurity"])
    assert found == {"ServiceAccount", "LimitRanger", "ResourceQuota"}


@pytest.mark.parametrize(
    ("enabled", "disabled", "why"),
    [
        ("NodeRestriction", "", "--enable-admission-plugins=NodeRestriction is not supported"),
        ("ResourceQuota", "", "--enable-admission-plugins=ResourceQuota is not supported here"),
        ("", "NamespaceLifecycle", "--disable-admission-plugins=NamespaceLifecycle is not supp"),
        ("", "MutatingAdmissionWebhook", "--disable-admission-plugins=MutatingAdmissionWebhook"),
        ("Nope", "", '--enable-admission-plugins plugin "Nope" is unknown'),
    ],
)
def test_plugins_that_cannot_be_had_or_left_out_are_named(
    enabled: str, disabled: str, why: str
) -> None:
    with pytest.raises(FlagError) as refused:
        disabled_plugins(enabled.split(), disabled.split())
    assert why in str(refused.value)


def test_it_is_known_what_is_absent() -> None:
    assert set(absent_plugins()) < DEFAULT_PLUGINS <= PLUGINS
    assert "ResourceQuota" in absent_plugins()
    assert "ServiceAccount" not in absent_plugins()
