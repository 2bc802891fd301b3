from __future__ import annotations

import sys
from pathlib import Path

import pytest

from quintant.core.errors import ConfigError
from quintant.runtime.manager.loading import load, load_manager


def write(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def test_a_file_is_loaded_as_a_module_and_not_as_a_program(tmp_path: Path) -> None:
    module = load(write(tmp_path, "plain.py", "name = __name__"))
    assert vars(module)["name"] != "__main__"
    assert sys.modules[module.__name__] is module


def test_a_file_may_import_its_neighbours(tmp_path: Path) -> None:
    write(tmp_path, "loading_neighbour.py", "VALUE = 7")
    module = load(write(tmp_path, "central.py", "from loading_neighbour import VALUE"))
    assert vars(module)["VALUE"] == 7


def test_a_file_named_like_another_module_does_not_replace_it(tmp_path: Path) -> None:
    import json

    load(write(tmp_path, "json.py", "loads = None"))
    assert sys.modules["json"] is json
    sys.path.remove(str(tmp_path))


def test_a_dotted_name_is_imported() -> None:
    assert load("quintant.version") is sys.modules["quintant.version"]


@pytest.mark.parametrize(
    ("target", "because", "hint"),
    [
        ("no_such_module", "No module named 'no_such_module'", "the path of its .py file"),
        ("no_such.module", "No module named 'no_such'", "the path of its .py file"),
        ("quintant.nothing", "No module named 'quintant.nothing'", "the path of its .py file"),
        ("nothing.py", "there is no such file", "dotted name"),
    ],
)
def test_a_target_that_is_not_there_is_explained(target: str, because: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(target)
    assert caught.value.what == f"cannot load {target}"
    assert caught.value.because == because
    assert hint in caught.value.hint


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="it is not a file"):
        load(str(tmp_path))


def test_a_missing_dependency_of_the_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(write(tmp_path, "needy.py", "import not_installed.deep"))
    assert caught.value.hint == "install not_installed into this environment"
    assert "quintant_file_needy" not in sys.modules


def test_a_name_that_an_import_does_not_offer_is_explained(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot import name 'missing'"):
        load(write(tmp_path, "wants.py", "from quintant.version import missing"))


def test_a_syntax_error_names_file_and_line(tmp_path: Path) -> None:
    path = write(tmp_path, "broken.py", "fine = 1\ndef\n")
    with pytest.raises(ConfigError) as caught:
        load(path)
    assert caught.value.because == f"invalid syntax ({path}, line 2)"


def test_errors_of_the_users_own_code_are_left_to_the_user(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        load(write(tmp_path, "divides.py", "1 / 0"))


TWO = """
from quintant import Manager
async def run(client): ...
shops = Manager("shops")
shops.add(run)
harbours = Manager("harbours")
harbours.add(run)
again = shops
"""


def test_two_managers_are_named_with_how_to_choose_one(tmp_path: Path) -> None:
    path = write(tmp_path, "two.py", TWO.replace("again = shops", ""))
    with pytest.raises(ConfigError) as caught:
        load_manager(path)
    assert str(caught.value).splitlines() == [
        f"cannot choose a manager of {path}",
        "because: it declares 2 at its top level: "
        'shops = Manager("shops"), harbours = Manager("harbours")',
        f"try: {path}:shops or {path}:harbours",
    ]


def test_manager_is_chosen_by_the_name_of_its_variable(tmp_path: Path) -> None:
    path = write(tmp_path, "chosen.py", TWO)
    assert load_manager(f"{path}:harbours").name == "harbours"


def test_name_that_is_no_manager_is_told_with_those_that_are(tmp_path: Path) -> None:
    path = write(tmp_path, "misnamed.py", TWO)
    with pytest.raises(ConfigError, match=r'harbours = Manager\("harbours"\)') as caught:
        load_manager(f"{path}:ships")
    assert caught.value.hint == f"{path}:shops"


def test_two_names_of_one_manager_are_one_manager(tmp_path: Path) -> None:
    text = "from quintant import Manager\nasync def run(client): ...\n"
    path = write(tmp_path, "alias.py", f'{text}one = two = Manager("one")\none.add(run)\n')
    assert load_manager(path).name == "one"


def test_controller_without_a_reconciler_is_told_when_the_file_is_loaded(tmp_path: Path) -> None:
    text = 'from quintant import Manager\nfrom quintant.api.core import Pod\nm = Manager("m")\n'
    path = write(tmp_path, "unended.py", f"{text}m.controls(Pod)\n")
    with pytest.raises(ConfigError) as caught:
        load_manager(path)
    assert str(caught.value).splitlines() == [
        "controller 'pod' has no reconciler",
        "because: its declaration was begun and never ended",
        "try: end it: manager.controls(Kind).reconcile(function)",
    ]
