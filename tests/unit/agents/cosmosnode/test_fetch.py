"""What a new home is filled with: all of it or nothing, and never over what is there."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType
from typing import Any

import lz4.frame
import pytest
import zstandard

from quintant.agents.cosmosnode.chain_home import ChainHome
from quintant.agents.cosmosnode.fetch import fetch_addrbook, fetch_genesis, fetch_snapshot
from quintant.agents.cosmosnode.last_words import NodeToolError
from unit.agents.cosmosnode.homes import make_home

GENESIS = json.dumps({"chain_id": "hub-1", "app_state": {}}).encode()


def tar(entries: Mapping[str, bytes]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as file:
        for name, content in entries.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            file.addfile(info, io.BytesIO(content))
    return made.getvalue()


def zipped(entries: Mapping[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        for name, content in entries.items():
            file.writestr(name, content)
    return made.getvalue()


SNAPSHOT = tar({"data/application.db/CURRENT": b"x" * 3000, "data/blockstore.db/CURRENT": b"y"})
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".tar": bytes,
    ".tar.gz": gzip.compress,
    ".tar.gzip": gzip.compress,
    ".tar.lz4": lz4.frame.compress,
    ".tar.zst": zstandard.compress,
}


class _Handler(BaseHTTPRequestHandler):
    files: Mapping[str, bytes]
    moved: Mapping[str, str]

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        place = self.moved.get(path)
        if place is not None:
            self.send_response(302)
            self.send_header("location", place.format(url=self.headers["host"]))
            self.end_headers()
            return
        if path not in self.files:
            self.send_error(404)
            return
        body = self.files[path]
        self.send_response(200)
        announced = len(body) + (100 if "short" in path else 0)
        self.send_header("content-length", str(announced))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nobody reads it."""


@contextmanager
def served(
    files: Mapping[str, bytes], moved: Mapping[str, str] = MappingProxyType({})
) -> Iterator[str]:
    """A server of files, and of redirects: from where to where."""
    handler = type("Handler", (_Handler,), {"files": files, "moved": moved})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def home(tmp_path: Path) -> ChainHome:
    return make_home(tmp_path)


def refused(home: ChainHome, name: str, body: bytes, *, end: str = "") -> str:
    """Why an archive is refused; nothing of it is left."""
    before = sorted(home.home.rglob("*"))
    work = fetch_snapshot if ".tar" in name else fetch_genesis
    with served({f"/{name}": body}) as url, pytest.raises(NodeToolError) as caught:
        work(home, f"{url}/{name}{end}")
    assert sorted(home.home.rglob("*")) == before
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("genesis.json", GENESIS),
        ("genesis.json.gz", gzip.compress(GENESIS)),
        ("g.tar.gz", gzip.compress(tar({"a/genesis.json": GENESIS, "b.txt": b""}))),
        ("g.tar", tar({"genesis.json": GENESIS})),
        ("g.zip", zipped({"x/genesis.json": GENESIS})),
    ],
)
def test_a_genesis_comes_in_any_of_its_forms(home: ChainHome, name: str, body: bytes) -> None:
    with served({f"/{name}": body}) as url:
        fetch_genesis(home, f"{url}/{name}?token=1.json")
    assert home.genesis.read_bytes() == GENESIS
    assert not (home.home / ".fetch").exists()


def test_a_genesis_is_told_by_the_rpc_of_a_node(home: ChainHome) -> None:
    answer = b'{"jsonrpc":"2.0","id":-1,"result":{"genesis":' + GENESIS + b"}}"
    with served({"/genesis": answer}) as url:
        fetch_genesis(home, f"{url}/genesis")
    assert home.genesis.read_bytes() == GENESIS


@pytest.mark.parametrize("body", [b'{"error":{"message":"too large"}}', GENESIS, b"<html>"])
def test_a_node_that_tells_no_genesis_is_named(home: ChainHome, body: bytes) -> None:
    assert "no node's answer with a genesis" in refused(home, "genesis", body)


def test_a_genesis_without_url_is_the_one_of_init(home: ChainHome) -> None:
    (home.pristine / "config/genesis.json").write_bytes(GENESIS)
    assert fetch_genesis(home, "") == "taken from init"
    assert home.genesis.read_bytes() == GENESIS


def test_data_that_are_there_are_kept(home: ChainHome) -> None:
    (home.data / "state.db").mkdir()
    assert fetch_genesis(home, "http://127.0.0.1:1/g.json") == "there are data already"
    assert fetch_snapshot(home, "http://127.0.0.1:1/s.tar") == "there are data already"


def test_an_address_book_that_is_there_is_kept(home: ChainHome) -> None:
    assert fetch_addrbook(home, "") == "none is asked for"
    with served({"/book.zip": zipped({"addrbook.json": b'{"addrs": []}'})}) as url:
        fetch_addrbook(home, f"{url}/book.zip")
        home.addrbook.write_text("{}")
        assert fetch_addrbook(home, f"{url}/book.zip") == "there is one already"
    assert home.addrbook.read_text() == "{}"


def test_redirects_are_followed_and_the_name_is_that_of_the_url(home: ChainHome) -> None:
    digest = hashlib.sha256(GENESIS).hexdigest()
    moved = {"/genesis.json": "there/a.bin", "/there/a.bin": "http://{url}/store"}
    with served({"/store": GENESIS}, moved) as url:
        fetch_genesis(home, f"{url}/genesis.json?a=b#sha256={digest}")
    assert home.genesis.read_bytes() == GENESIS


@pytest.mark.parametrize(
    ("location", "because"),
    [
        ("http://{url}/round.json", "again and again"),
        ("ftp://127.0.0.1/genesis.json", "no URL"),
        ("file:///etc/passwd", "no URL"),
        ("http://127.0.0.1:1/genesis.json", "failed"),
        ("http://0.0.0.0:1/genesis.json", "not allowed"),
        ("/nowhere.json", "404"),
    ],
)
def test_a_redirect_that_leads_nowhere_is_told_and_leaves_nothing(
    home: ChainHome, location: str, because: str
) -> None:
    before = sorted(home.home.rglob("*"))
    moved = {"/round.json": location}
    with served({}, moved) as url, pytest.raises(NodeToolError) as caught:
        fetch_genesis(home, f"{url}/round.json")
    assert because in str(caught.value)
    assert sorted(home.home.rglob("*")) == before


@pytest.mark.parametrize("kind", PACKERS)
def test_a_snapshot_comes_in_any_of_its_forms(home: ChainHome, kind: str) -> None:
    (home.data / "priv_validator_state.json").write_text("{}")
    with served({f"/s{kind}": PACKERS[kind](SNAPSHOT)}) as url:
        fetch_snapshot(home, f"{url}/s{kind}?a=b")
    assert (home.data / "application.db/CURRENT").read_bytes() == b"x" * 3000
    assert (home.data / "priv_validator_state.json").read_text() == "{}"
    assert not (home.home / ".fetch").exists()


def test_a_snapshot_below_one_folder_is_found(home: ChainHome) -> None:
    body = tar({"gaia/data/state.db/CURRENT": b"x", "gaia/wasm/a": b"y", "gaia/config/b": b"z"})
    with served({"/s.tar": body}) as url:
        fetch_snapshot(home, f"{url}/s.tar")
    assert (home.data / "state.db/CURRENT").exists()
    assert (home.home / "wasm/a").exists()
    assert not (home.config / "b").exists()


@pytest.mark.parametrize("kind", PACKERS)
@pytest.mark.parametrize("left", [0.1, 0.3])
def test_an_archive_that_breaks_off_is_refused(home: ChainHome, kind: str, left: float) -> None:
    body = PACKERS[kind](SNAPSHOT)
    assert "because: it is damaged" in refused(home, f"s{kind}", body[: int(len(body) * left)])


def test_a_tar_cut_between_two_entries_is_refused(home: ChainHome) -> None:
    assert "it ends too early" in refused(home, "s.tar", SNAPSHOT[:3584])


def test_a_download_that_breaks_off_is_refused(home: ChainHome) -> None:
    assert "broke off" in refused(home, "short.tar", SNAPSHOT)


def test_a_wrong_checksum_is_refused_with_both(home: ChainHome) -> None:
    said = refused(home, "g.json", GENESIS, end=f"#sha256={'0' * 64}")
    assert hashlib.sha256(GENESIS).hexdigest() in said
    assert "0" * 64 in said


@pytest.mark.parametrize("end", ["#md5=1", "#sha256=12", "#x"])
def test_what_is_no_checksum_is_refused(home: ChainHome, end: str) -> None:
    assert "is no checksum" in refused(home, "g.json", GENESIS, end=end)


def test_an_unknown_type_and_a_missing_file_are_named(home: ChainHome) -> None:
    assert "unknown type" in refused(home, "g.rar", GENESIS)
    with served({}) as url, pytest.raises(NodeToolError, match="answered 404"):
        fetch_genesis(home, f"{url}/g.json")
    with pytest.raises(NodeToolError, match="no URL of http or https"):
        fetch_genesis(home, "ftp://example.com/g.json")


def test_what_is_no_json_is_no_genesis(home: ChainHome) -> None:
    assert "no JSON object" in refused(home, "g.json", b"<html></html>")
    assert "no JSON object" in refused(home, "g.json", b"")
    assert "there is no genesis.json in it" in refused(home, "g.zip", zipped({"a": b""}))


def test_an_archive_without_data_is_refused(home: ChainHome) -> None:
    assert "there is no database below data" in refused(home, "s.tar", tar({"readme": b""}))


def entry(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> bytes:
    """A tar with data, and one more entry."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as file:
        file.addfile(tarfile.TarInfo("data/state.db/CURRENT"))
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, link
        file.addfile(info)
    return made.getvalue()


@pytest.mark.parametrize(
    "body",
    [
        entry("../escaped"),
        entry("data/../../../escaped"),
        entry("/etc/absolute"),
        entry("data/link", tarfile.SYMTYPE, "/etc/passwd"),
        entry("data/link", tarfile.SYMTYPE, "../../../../etc"),
        entry("data/link", tarfile.LNKTYPE, "../../../etc/passwd"),
        entry("data/device", tarfile.CHRTYPE),
        entry("data/pipe", tarfile.FIFOTYPE),
    ],
)
def test_an_entry_that_leaves_the_folder_is_refused(
    home: ChainHome, tmp_path: Path, body: bytes
) -> None:
    assert refused(home, "s.tar", body).startswith("cannot use the archive\nbecause: ")
    assert not list(tmp_path.rglob("escaped"))


def test_a_password_in_a_url_is_not_shown(home: ChainHome) -> None:
    with pytest.raises(NodeToolError) as caught:
        fetch_genesis(home, "http://me:hunter2@127.0.0.1:1/g.json?key=hunter3")
    assert "hunter" not in str(caught.value)


def test_after_a_broken_try_the_next_one_begins_anew(home: ChainHome) -> None:
    (home.home / ".fetch/made/data").mkdir(parents=True)
    (home.home / ".fetch/made/data/left.db").touch()
    with served({"/s.tar": SNAPSHOT}) as url:
        fetch_snapshot(home, f"{url}/s.tar")
    assert not (home.data / "left.db").exists()
