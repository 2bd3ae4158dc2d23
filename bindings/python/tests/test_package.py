"""The package itself: declarations, types, installation, examples, the page."""

from __future__ import annotations

import ast
import os
import pickle
import re
import shutil
import subprocess
import sys
import typing
import zipfile
from pathlib import Path
from typing import List

import pytest

import tableq
from conftest import environment, run, start
from tableq import _library

ROOT = Path(__file__).parents[1]
PROJECT = ROOT.parents[1]
PARAMETERS = {
    "size_t": "c_ulong",
    "int64_t": "c_long",
    "int32_t": "c_int",
    "int": "c_int",
    "double": "c_double",
}


def _declared() -> "dict[str, List[str]]":
    """The functions of tableq.h, with what they return and the types of their parameters."""
    text = (PROJECT / "include/tableq.h").read_text()
    text = re.sub(r"//[^\n]*", "", text)
    found = {}
    for match in re.finditer(r"TQ_API\s+([^;(]+?)(\w+)\(([^)]*)\);", text):
        parameters = [p.strip() for p in match[3].replace("\n", " ").split(",")]
        found[match[2]] = [match[1].strip(), *([] if parameters == ["void"] else parameters)]
    assert len(found) > 100
    return found


def test_every_function_of_the_header_is_declared_or_left_out_for_a_reason() -> None:
    known = {
        **_library.QUICK, **_library.QUICK_CALLS, **_library.SLOW, **_library.SLOW_CALLS,
        **_library.UNUSED,
    }
    assert set(_declared()) == set(known)
    assert all(_library.UNUSED.values())


def _c_type(text: str) -> str:
    """The name of the ctypes type for a parameter `const char* name`."""
    text = re.sub(r"\b(const|struct)\b", "", re.sub(r"\w+$", "", text.strip())).strip()
    text = re.sub(r"\s+", "", text)
    if text == "char*":
        return "c_char_p"
    if text.endswith("**"):
        return "LP_c_void_p"
    if text.endswith("*") and text[:-1] in PARAMETERS:
        return "LP_" + PARAMETERS[text[:-1]]
    return "c_void_p" if text.endswith("*") else PARAMETERS[text]


def test_every_declaration_is_that_of_the_header() -> None:
    header = _declared()
    for fails, declared in (
        (False, {**_library.QUICK, **_library.SLOW}),
        (True, {**_library.QUICK_CALLS, **_library.SLOW_CALLS}),
    ):
        for name, (result, parameters) in declared.items():
            wanted = [_c_type(parameter) for parameter in header[name][1:]]
            if fails:
                assert wanted.pop() == "LP_c_void_p", name
            given = [parameter.__name__ for parameter in parameters]
            # Bytes are borrowed as texts; a result's bytes may hold NUL, so that their address is
            # asked. Arrays are bytes.
            bytes_too = [
                b if (a, b) == ("c_void_p", "c_char_p") or "_all" in name and b == "c_void_p" else a
                for a, b in zip(wanted, given)
            ]
            assert bytes_too == given and len(wanted) == len(given), name
            returned = header[name][0]
            shown = {"void": "None", "const char*": "c_char_p", "const tq_result*": "c_void_p"}
            told = shown.get(returned) or PARAMETERS[returned]
            if name == "tq_result_bytes":
                told = "c_void_p"
            assert (result.__name__ if result else "None") == told, name


def test_every_code_has_its_class() -> None:
    text = (PROJECT / "include/tableq.h").read_text()
    codes = {int(number) for number in re.findall(r"TQ_ERROR_\w+ = (\d+)", text)}
    classes = {
        each for each in vars(tableq).values()
        if isinstance(each, type) and issubclass(each, tableq.Error) and each is not tableq.Error
    }
    assert {each.code for each in classes} == codes and len(classes) == len(codes)


def test_everything_public_has_a_docstring() -> None:
    for name in tableq.__all__:
        each = getattr(tableq, name)
        if not isinstance(each, type) and not callable(each):
            continue
        if getattr(each, "__module__", "").startswith("tableq"):
            assert each.__doc__, name
            for member, value in vars(each).items() if isinstance(each, type) else ():
                public = not member.startswith("_") and callable(value)
                assert not public or value.__doc__, f"{name}.{member}"


def test_types_are_strict() -> None:
    done = subprocess.run(
        ["/usr/bin/mypy", "--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", os.devnull,
         "tableq", "examples/worker.py", "examples/producer.py", "examples/async_worker.py"],
        cwd=ROOT, stdout=subprocess.PIPE, text=True,
    )
    assert done.returncode == 0, done.stdout


def test_pip_installs_it_without_network(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-cache-dir"]
    subprocess.run(
        [*pip, "install", "--no-index", "--quiet", "--target", str(tmp_path / "site"), str(ROOT)],
        check=True,
    )
    seen = subprocess.run(
        [sys.executable, "-c",
         "import tableq, importlib.metadata as m; print(tableq.__file__, m.version('tableq'))"],
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
        stdout=subprocess.PIPE, text=True, check=True, cwd=tmp_path,
    ).stdout.split()
    assert seen == [str(tmp_path / "site/tableq/__init__.py"), tableq.version_of_library()]


def test_a_wheel_may_carry_the_library(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-cache-dir"]
    subprocess.run(
        [*pip, "wheel", "--no-index", "--quiet", "--wheel-dir", str(tmp_path), "--config-settings",
         f"library={os.environ['TABLEQ_LIBRARY']}", str(ROOT)],
        check=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    assert "py3-none-linux" in wheel.name
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path / "site")
    # Without TABLEQ_LIBRARY: the one beside the package is found.
    bare = {name: value for name, value in os.environ.items() if name != "TABLEQ_LIBRARY"}
    seen = subprocess.run(
        [sys.executable, "-c",
         "import tableq; from tableq._library import lib; print(lib.path)"],
        env={**bare, "PYTHONPATH": str(tmp_path / "site")},
        stdout=subprocess.PIPE, text=True, check=True, cwd=tmp_path,
    ).stdout.strip()
    assert seen == str(tmp_path / "site/tableq/libtableq.so.0")


def test_a_source_distribution_installs(tmp_path: Path) -> None:
    make = "import sys, tableq_build; print(tableq_build.build_sdist(sys.argv[1]))"
    name = subprocess.run(
        [sys.executable, "-c", make, str(tmp_path)], cwd=ROOT, check=True, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "backend")}, stdout=subprocess.PIPE,
    ).stdout.strip()
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-cache-dir"]
    subprocess.run(
        [*pip, "install", "--no-index", "--quiet", "--target", str(tmp_path / "site"),
         str(tmp_path / name)],
        check=True,
    )
    assert (tmp_path / "site/tableq/py.typed").exists()


def test_a_folder_that_has_left_its_tree_says_so(tmp_path: Path) -> None:
    for folder in ("backend", "tableq"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / "README.md", tmp_path)
    made = subprocess.run(
        [sys.executable, "-c", "import tableq_build; tableq_build.build_wheel('.')"],
        env={**os.environ, "PYTHONPATH": str(tmp_path / "backend")},
        cwd=tmp_path, stderr=subprocess.PIPE, text=True,
    )
    assert made.returncode == 1 and "Traceback" not in made.stderr
    assert "install from the whole sources" in made.stderr


# ---------------------------------------------------------------------------------------- examples


def _example(name: str, *words: str) -> List[str]:
    return [sys.executable, str(ROOT / "examples" / name), *words]


def test_the_worker_survives_a_kill(tmp_path: Path) -> None:
    url = f"sqlite://{tmp_path}/jobs.db"
    run(_example("producer.py", url, "cat.jpg", "dog.jpg"))
    worker = start(_example("worker.py", url))
    assert worker.stdout is not None and worker.stdout.readline().startswith("begins:")
    worker.kill()
    worker.communicate(timeout=60)
    seen = run(_example("worker.py", url, "--until-empty")).stdout.splitlines()
    assert sorted(re.findall(r"done: (\w+)", "".join(seen))) == ["cat", "dog"]
    assert "attempt 2" in "".join(seen)


def test_the_async_worker_runs(tmp_path: Path) -> None:
    url = f"sqlite://{tmp_path}/jobs.db"
    run(_example("producer.py", url, "cat.jpg", "dog.jpg"))
    seen = run(_example("async_worker.py", url, "--until-empty")).stdout
    assert sorted(seen.splitlines()) == ["done: cat.jpg", "done: dog.jpg"]


def test_an_outbox_of_django(tmp_path: Path) -> None:
    pytest.importorskip("django")
    seen = run(_example("django_outbox.py", str(tmp_path / "shop.db"))).stdout
    assert seen == "order 1 is a book\n"


@pytest.mark.parametrize("place", ["postgresql"], indirect=True)
def test_an_outbox_of_sqlalchemy(place) -> None:  # type: ignore[no-untyped-def]
    pytest.importorskip("sqlalchemy")
    schema = place.options["schema_name"]
    url = f"{place.url}?options=-csearch_path%3D{schema}"
    assert run(_example("sqlalchemy_outbox.py", url)).stdout == "order 1 is a book\n"


def test_the_examples_are_named_on_the_page() -> None:
    page = (PROJECT / "docs/python.md").read_text()
    for example in (ROOT / "examples").glob("*.py"):
        assert example.name in page
    assert environment()["PYTHONPATH"] == str(ROOT)


def test_the_page_says_what_holds() -> None:
    """Each python block compiles, and each attribute of tableq that the page names is there."""
    page = (PROJECT / "docs/python.md").read_text()
    for block in re.findall(r"^```python\n(.*?)^```", page, re.M | re.S):
        compile(block, "python.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    for name in set(re.findall(r"\btableq\.([A-Za-z_]+)", page)) - {"h"}:
        assert hasattr(tableq, name), name


def test_the_page_says_what_put_returns_and_where_the_reference_is() -> None:
    page = (PROJECT / "docs/python.md").read_text()
    assert "Added(id, outcome)" in page and "help(tableq.ClaimQueue)" in page
    assert tableq.Added._fields == ("id", "outcome")
    header = (PROJECT / "include/tableq/message.hpp").read_text()
    outcomes = re.search(r"enum class enqueue_result.*?\{(.*?)\};", header, re.S)
    assert outcomes is not None
    names = re.findall(r"^\s*(\w+),", outcomes[1], re.M)
    assert len(names) == 4
    for outcome in names:
        assert f"`{outcome}`" in page, outcome


def test_public_classes_are_named_by_the_package_and_their_types_are_known() -> None:
    for name in tableq.__all__:
        each = getattr(tableq, name)
        if isinstance(each, type) and each.__name__ == name:
            assert each.__module__ == "tableq", name
            typing.get_type_hints(each)
            assert pickle.loads(pickle.dumps(each)) is each
