"""Builds the distributions of the package: a PEP 517 backend that needs nothing but Python.

    pip install ./bindings/python
    pip wheel ./bindings/python --config-settings library=build/release/bindings/c/libtableq.so.0

With `library` the wheel carries that file beside the package, and is for this platform alone.
"""

import base64
import hashlib
import io
import os
import re
import sysconfig
import tarfile
import zipfile
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_TIME = (1980, 1, 1, 0, 0, 0)  # The same input gives the same file.


def _version():
    header = _ROOT / "../../include/tableq/version.hpp"
    if header.exists():
        text = header.read_text()
        return ".".join(
            re.search(rf"TABLEQ_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH")
        )
    # A source distribution has left the tree.
    try:
        text = (_ROOT / "PKG-INFO").read_text()
    except FileNotFoundError:
        raise SystemExit(
            "tableq: bindings/python has left its tree, whose include/tableq/version.hpp has the "
            "version: install from the whole sources, or make a source distribution or a wheel there"
        ) from None
    return re.search(r"^Version: (.+)$", text, re.M)[1]


def _metadata():
    return (
        "Metadata-Version: 2.1\n"
        "Name: tableq\n"
        f"Version: {_version()}\n"
        "Summary: Durable queues in the tables of the SQL database that an application has\n"
        "License: MIT\n"
        "Requires-Python: >=3.9\n"
        "Classifier: Operating System :: POSIX :: Linux\n"
        "Classifier: Typing :: Typed\n"
        "Description-Content-Type: text/markdown\n"
        "\n" + (_ROOT / "README.md").read_text()
    )


def _sources():
    files = [*_ROOT.glob("tableq/*.py"), _ROOT / "tableq/py.typed"]
    return sorted(files)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    settings = config_settings or {}
    unknown = set(settings) - {"library"}
    if unknown:
        raise ValueError(f"unknown config settings: {', '.join(sorted(unknown))}")
    library = settings.get("library")
    tag = "py3-none-any"
    if library:
        platform = re.sub(r"[^a-z0-9]", "_", sysconfig.get_platform().lower())
        tag = f"py3-none-{platform}"
    files = {f"tableq/{path.name}": path.read_bytes() for path in _sources()}
    if library:
        files["tableq/libtableq.so.0"] = Path(library).read_bytes()
    folder = f"tableq-{_version()}.dist-info"
    files[f"{folder}/METADATA"] = _metadata().encode()
    files[f"{folder}/WHEEL"] = (
        "Wheel-Version: 1.0\n"
        "Generator: tableq_build\n"
        f"Root-Is-Purelib: {'false' if library else 'true'}\n"
        f"Tag: {tag}\n"
    ).encode()
    record = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record.append(f"{name},sha256={digest},{len(data)}")
    record.append(f"{folder}/RECORD,,")
    files[f"{folder}/RECORD"] = ("\n".join(record) + "\n").encode()
    wheel = f"tableq-{_version()}-{tag}.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, wheel), "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, _TIME)
            entry.external_attr = (0o755 if name.endswith(".so.0") else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            out.writestr(entry, data)
    return wheel


def build_sdist(sdist_directory, config_settings=None):
    folder = f"tableq-{_version()}"
    files = {f"tableq/{path.name}": path.read_bytes() for path in _sources()}
    for name in ("pyproject.toml", "README.md", "backend/tableq_build.py"):
        files[name] = (_ROOT / name).read_bytes()
    files["PKG-INFO"] = _metadata().encode()
    with tarfile.open(os.path.join(sdist_directory, f"{folder}.tar.gz"), "w:gz") as out:
        for name, data in files.items():
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size = len(data)
            entry.mode = 0o644
            out.addfile(entry, io.BytesIO(data))
    return f"{folder}.tar.gz"
