#!/usr/bin/env python3
"""Looks at what was installed: the bill of materials, the documentation's links, how the command was linked.

    package_test.py PREFIX READELF [hardened]        exit status 1 with findings, one a line
"""

import json
import re
import subprocess
import sys
from pathlib import Path

# Parts of the system that every program has.
RUNTIME = re.compile(r"(libc|libm|libstdc\+\+|libgcc_s|libpthread|ld-linux.*|libtableq-cpp)\.so.*")


def elf(readelf, option, path):
    done = subprocess.run([readelf, "-W", option, str(path)], capture_output=True, text=True, check=True)
    return done.stdout


def bill_of_materials(prefix, needed):
    """The document has the form that it names, and knows every library that is linked."""
    bill = json.loads((prefix / "share/tableq/tableq.cdx.json").read_text(encoding="utf-8"))
    if (bill["bomFormat"], bill["specVersion"], bill["version"]) != ("CycloneDX", "1.4", 1):
        yield "the bill of materials has another form than CycloneDX 1.4"
    own = bill["metadata"]["component"]
    libraries, refs = set(), set()
    for part in [own] + bill["components"]:
        if not re.fullmatch(r"\d+(\.\d+)+", part["version"]):
            yield f"{part['name']}: no version: {part['version']!r}"
        if part["bom-ref"] != f"{part['name']}@{part['version']}" or part["bom-ref"] in refs:
            yield f"{part['name']}: a bad or double reference"
        if part["type"] != "library" or not part["licenses"][0]["license"]["id"]:
            yield f"{part['name']}: no library, or without a licence"
        refs.add(part["bom-ref"])
        libraries |= {each["value"] for each in part.get("properties", []) if each["name"] == "tableq:library"}
    (tree,) = bill["dependencies"]
    if tree["ref"] != own["bom-ref"] or {*tree["dependsOn"]} != refs - {own["bom-ref"]}:
        yield "the dependencies are not the components"
    for name in needed:
        if not RUNTIME.fullmatch(name) and name.split(".so")[0] not in libraries:
            yield f"linked, and not in the bill of materials: {name}"
    for name in libraries:
        if not any(each.startswith(name + ".so") for each in needed):
            yield f"in the bill of materials, and not linked: {name}"


def hardening(readelf, command):
    """The command is loaded anywhere, its tables are closed, its stack is guarded and runs no code."""
    header, dynamic = elf(readelf, "-h", command), elf(readelf, "-d", command)
    segments, symbols = elf(readelf, "-l", command), elf(readelf, "--dyn-syms", command)
    stack = re.search(r"GNU_STACK\s.*?\s(R\S*\s?\S*)\s+0x", segments)
    wanted = {
        "position-independent": "DYN (" in header,
        "relocations are read-only": "GNU_RELRO" in segments,
        "symbols are bound at the start": "BIND_NOW" in dynamic or re.search(r"FLAGS_1.*NOW", dynamic),
        "the stack runs no code": stack is not None and "E" not in stack[1],
        "the stack is guarded": "__stack_chk_fail" in symbols,
        "functions are fortified": re.search(r"__\w+_chk@", symbols.replace("__stack_chk_fail", "")),
    }
    if "X86-64" in header:
        # The C runtime may lack the mark, and takes it from the whole: targets of branches are counted.
        wanted["branches are marked"] = command.read_bytes().count(b"\xf3\x0f\x1e\xfa") > 1000
    for what, there in wanted.items():
        if not there:
            yield f"not so: {what}"


def links(prefix):
    """Every link of the documentation to a file leads to an installed one."""
    count = 0
    for page in sorted((prefix / "share/doc/tableq").rglob("*.md")):
        prose = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
        for to in re.findall(r"\]\(([^)#\s]+)", prose):
            count += 1
            if not re.match(r"\w+:", to) and not (page.parent / to).exists():
                yield f"{page.relative_to(prefix)}: a link to {to}, which is not installed"
    if count < 50:
        yield f"only {count} links in the documentation"


def main():
    prefix, readelf = Path(sys.argv[1]), sys.argv[2]
    command = prefix / "bin/tableq"
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", elf(readelf, "-d", command))
    findings = list(bill_of_materials(prefix, needed)) + list(links(prefix))
    if "hardened" in sys.argv[3:]:
        findings += hardening(readelf, command)
    print("\n".join(findings), file=sys.stderr, end="\n" if findings else "")
    sys.exit(1 if findings else 0)


main()
