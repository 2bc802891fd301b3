"""The command line of `quintant agent cosmosnode`: one word for each container of a pod."""

from __future__ import annotations

import argparse
import asyncio
import os
import re
from collections.abc import Sequence

from quintant.agents.cosmosnode.last_words import NodeToolError, run_word
from quintant.agents.embedded_node import pod_path

_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m)?")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, None: 1.0}
PROGRAM = "quintant agent cosmosnode"
FETCHED = ("genesis", "addrbook", "snapshot")


def run(arguments: Sequence[str]) -> None:
    """Run what a command line asks for; the program ends with 1 and says why if it cannot."""
    run_word(_parser(), arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Runs beside a node of a Cosmos chain, in the pods of a CosmosFullNode.",
    )
    # Its name is given, for to make it up argparse loads megabytes that nothing else here needs.
    words = parser.add_subparsers(dest="word", required=True, metavar="WORD", prog=PROGRAM)
    clean = words.add_parser("clean", help="empty a folder")
    clean.add_argument("folder", type=pod_path)
    clean.set_defaults(run=_clean)
    merge = words.add_parser("config-merge", help="write config.toml, app.toml and the node key")
    merge.add_argument("-f", "--format", choices=("toml",), default="toml", help="of the files")
    merge.add_argument(
        "files", nargs="*", type=pod_path, help="print these merged, and write nothing"
    )
    merge.set_defaults(run=_config_merge)
    _add_healthcheck(words.add_parser("healthcheck", help="say whether the node is in sync"))
    fetch = words.add_parser("fetch", help="load genesis.json, addrbook.json, or a snapshot")
    fetch.add_argument("what", choices=FETCHED)
    fetch.add_argument("--url", default="", help="may end with #sha256=…")
    fetch.set_defaults(run=_fetch)
    _add_versioncheck(words.add_parser("versioncheck", help="tell height and upgrade of the node"))
    return parser


def _add_versioncheck(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-d", "--daemon", action="store_true", help="go on beside the node")
    parser.add_argument("-b", "--backend", default="", help="of the databases: goleveldb")
    parser.add_argument(
        "-c",
        "--continue",
        dest="without_data",
        action="store_true",
        help="data that are not there are no error",
    )
    parser.add_argument("--interval", type=_seconds, default=30.0, help="of looks at the data")
    parser.set_defaults(run=_versioncheck)


def _add_healthcheck(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rpc-host", default="http://localhost:26657", metavar="URL")
    parser.add_argument("--timeout", type=_seconds, default=5.0, help="such as 5s")
    parser.add_argument("--addr", type=_bind_address, default=("", 1251), help="such as :1251")
    parser.add_argument("--log-format", choices=("console", "json"), help="has no effect")
    parser.set_defaults(run=_healthcheck)


def _clean(given: argparse.Namespace) -> None:
    from quintant.agents.cosmosnode.clean import clean

    clean(given.folder)


def _config_merge(given: argparse.Namespace) -> None:
    from quintant.agents.cosmosnode.chain_home import ChainHome
    from quintant.agents.cosmosnode.config_merge import config_merge, merged_files
    from quintant.agents.cosmosnode.state_sync import ask_server

    if given.files:
        print(merged_files(given.files, os.environ), end="", flush=True)
        return
    home = ChainHome.find(os.environ)
    for path in asyncio.run(config_merge(home, os.environ, ask_server)):
        print(f"wrote {path}", flush=True)


def _fetch(given: argparse.Namespace) -> None:
    from quintant.agents.cosmosnode import fetch
    from quintant.agents.cosmosnode.chain_home import ChainHome

    work = {
        "genesis": fetch.fetch_genesis,
        "addrbook": fetch.fetch_addrbook,
        "snapshot": fetch.fetch_snapshot,
    }[given.what]
    result = work(ChainHome.find(os.environ), given.url)
    print(f"{given.what}: {result}", flush=True)


def _healthcheck(given: argparse.Namespace) -> None:
    from quintant.agents.cosmosnode.healthcheck import HealthOptions, serve
    from quintant.agents.multiplex.program import run as run_until_signalled

    host, port = given.addr
    options = HealthOptions(given.rpc_host, given.timeout, host, port)
    run_until_signalled(lambda stopped: serve(options, stopped), small=True)


def _versioncheck(given: argparse.Namespace) -> None:
    from quintant.agents.apiclient.errors import ApiRefused, ApiUnreachable
    from quintant.agents.apiclient.pod_account import PodAccount
    from quintant.agents.cosmosnode.chain_home import ChainHome
    from quintant.agents.cosmosnode.versioncheck import VersionOptions, check_once, keep_checking
    from quintant.agents.multiplex.program import run as run_until_signalled

    try:
        options = VersionOptions(
            pod=os.environ.get("POD_NAME") or os.environ.get("HOSTNAME", ""),
            namespace=os.environ.get("POD_NAMESPACE") or PodAccount.find().namespace,
            data=ChainHome.find(os.environ).data,
            backend=given.backend,
            without_data=given.without_data,
            interval=given.interval,
        )
        if given.daemon:
            run_until_signalled(lambda stopped: keep_checking(options, stopped), small=True)
        else:
            asyncio.run(check_once(options))
    except (ApiRefused, ApiUnreachable) as error:
        raise NodeToolError("cannot check the version", str(error)) from None


def _seconds(text: str) -> float:
    found = _DURATION.fullmatch(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no duration such as 5s")
    return float(found[1]) * _UNITS[found[2]]


def _bind_address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not port.isdigit() or int(port) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no address such as :1251")
    return host, int(port)
