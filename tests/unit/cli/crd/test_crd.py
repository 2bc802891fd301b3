from __future__ import annotations

from pathlib import Path

import yaml
from click.testing import CliRunner, Result

from quintant.cli import main

GREETER = '''
from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from quintant.core.object import Custom, Model
from quintant.core.resource import resource


class GreeterSpec(Model):
    message: Annotated[str, Meta(min_length=1)]


@resource(group="demo.dev", version="v1", short=["gr"], status=True)
class Greeter(Custom[GreeterSpec, None]):
    """Keeps a ConfigMap with a greeting."""


if __name__ == "__main__":
    raise SystemExit("a module is loaded, not run")
'''


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["crd", *arguments])


def test_the_kinds_of_a_file_are_printed_as_yaml(tmp_path: Path) -> None:
    path = tmp_path / "01-greeter.py"
    path.write_text(GREETER)
    result = run(str(path))
    assert result.exit_code == 0
    (definition,) = yaml.safe_load_all(result.stdout)
    assert definition["metadata"]["name"] == "greeters.demo.dev"
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert schema["properties"]["spec"]["properties"]["message"]["minLength"] == 1


def test_printing_twice_prints_the_same(tmp_path: Path) -> None:
    path = tmp_path / "greeter.py"
    path.write_text(GREETER)
    assert run(str(path)).stdout == run(str(path)).stdout


def test_a_module_without_kinds_is_an_error_in_three_lines(tmp_path: Path) -> None:
    path = tmp_path / "empty.py"
    path.write_text("")
    result = run(str(path))
    assert result.exit_code == 1
    what, because, hint = result.stderr.splitlines()
    assert what == f"cannot print the definitions of {path}"
    assert because == "because: it defines no custom kind"
    assert hint.startswith("try: ")


def test_a_kind_that_cannot_be_described_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "wrong.py"
    path.write_text(GREETER.replace("Annotated[str, Meta(min_length=1)]", "complex"))
    result = run(str(path))
    assert result.exit_code == 1
    assert result.stderr.startswith("cannot describe GreeterSpec.message\nbecause: ")


def test_what_manifests_takes_is_taken(tmp_path: Path) -> None:
    (tmp_path / "kinds_of_greeter.py").write_text(GREETER)
    program = tmp_path / "program_of_greeter.py"
    program.write_text(
        "from quintant import Manager\n"
        "from kinds_of_greeter import Greeter\n"
        "async def reconcile(greeter, ctx):\n    pass\n"
        "manager = Manager('greeter')\n"
        "manager.controls(Greeter).reconcile(reconcile)\n"
    )
    for target in (str(program), f"{program}:manager"):
        done = CliRunner().invoke(main, ["crd", target])
        assert done.exit_code == 0, done.output
        (definition,) = yaml.safe_load_all(done.stdout)
        assert definition["metadata"]["name"] == "greeters.demo.dev"


def test_the_kinds_of_an_operator_are_printed_by_its_name() -> None:
    done = CliRunner().invoke(main, ["crd", "klight"])
    assert done.exit_code == 0, done.output
    names = [each["metadata"]["name"] for each in yaml.safe_load_all(done.stdout)]
    assert "lightnetworks" in names[0]
