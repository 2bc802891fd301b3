from __future__ import annotations

from pathlib import Path

from image.pip_settings import certificates, for_build, settings


def test_variables_win_over_files(tmp_path: Path) -> None:
    (tmp_path / "pip.conf").write_text(
        "[global]\nindex-url = https://files.example.com\nretries = 9\n"
    )
    environ = {
        "HOME": str(tmp_path),
        "PIP_CONFIG_FILE": str(tmp_path / "pip.conf"),
        "PIP_INDEX_URL": "https://user:100%25@index.example.com/simple",
        "PIP_DEFAULT_TIMEOUT": "180",
    }
    text = for_build(settings(environ), with_certificates=False)
    assert "index-url = https://user:100%25@index.example.com/simple\n" in text
    assert "timeout = 180\n" in text
    assert "retries = 9\n" in text
    assert "config-file" not in text


def test_folders_of_this_machine_are_left_out() -> None:
    found = {
        "find-links": "/opt/wheels\nhttps://wheels.example.com",
        "cache-dir": "/x",
        "cert": "/ca",
    }
    assert for_build(found, with_certificates=True).split("\n") == [
        "[global]", "find-links = https://wheels.example.com", "cert = /run/secrets/ca", "", "",
    ]  # fmt: skip


def test_the_authorities_are_those_that_pip_trusts_here(tmp_path: Path) -> None:
    own, other = tmp_path / "own.pem", tmp_path / "other.pem"
    own.touch()
    other.touch()
    environ = {"PIP_CERT": str(own), "SSL_CERT_FILE": str(other)}
    assert certificates({}, environ) == own
    assert certificates({"cert": str(tmp_path / "absent")}, {"SSL_CERT_FILE": str(other)}) == other


def test_a_damaged_file_is_as_none(tmp_path: Path) -> None:
    (tmp_path / "pip.conf").write_bytes(b"no section\n\xff")
    environ = {"HOME": str(tmp_path), "PIP_CONFIG_FILE": str(tmp_path / "pip.conf")}
    assert "no section" not in for_build(settings(environ), with_certificates=False)
