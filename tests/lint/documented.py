"""The rule that each public function has a doc comment."""

import re

FOLDER = "include/tableq"
# Headers whose comments are still to be written, one to a line.
EXEMPT = "tests/lint/undocumented.txt"

_SKIPPED = re.compile(r"(using|typedef|static_assert|namespace|extern|enum)\b")
_CLASS = re.compile(r"(?:template\s*)?(?:class|struct)\s+(?:TABLEQ_EXPORT\s+)?(\w+)(?:\s+final)?(\s*:[^:].*)?$", re.S)
_NAME = re.compile(r"(operator\s*(?:\(\)|[^\s\w(]+|[\w:&*\s]+)|~?\w+)\s*\((?!\s*\*)")


def _plain(statement):
    """Without attributes, export macros and what stands in angle brackets."""
    text = re.sub(r"\[\[.*?\]\]|\bTABLEQ_EXPORT\b", " ", statement, flags=re.S)
    text = re.sub(r"operator\s*(<=>|<<|<=|<|>>|>=|>|->)", "operator_", text)
    while (shorter := re.sub(r"<[^<>]*>", " ", text)) != text:
        text = shorter
    return text.strip()


def function_name(statement):
    """The name that a statement declares a function by; None where it declares none."""
    text = _plain(statement)
    if _SKIPPED.match(text):
        return None
    found = _NAME.search(text)
    before = text[:found.start()] if found else ""
    return re.sub(r"\s+", " ", found[1].strip()) if found and "=" not in before else None


class Function:
    def __init__(self, scope, name, statement, first, last):
        self.scope, self.name, self.statement = scope, name, statement
        self.first, self.last = first, last  # lines


def functions(source):
    """The functions that a header shows to its users, in their order."""
    code = re.sub(r"^[ \t]*#.*?(?<!\\)$", lambda m: " " * len(m[0]), source.code, flags=re.M)
    scopes = [("namespace", "", True, True)]  # kind, class, whether shown, whether the class is
    start, parentheses = 0, 0
    for at, c in enumerate(code):
        kind, name, shown, class_shown = scopes[-1]
        if kind == "body":
            if c in "{}":
                scopes[-1:] = [scopes[-1]] * 2 if c == "{" else []
                start = at + 1 if c == "}" and scopes[-1][0] != "body" else start
            continue
        parentheses += {"(": 1, ")": -1}.get(c, 0)
        if parentheses or c not in "{};:":
            continue
        statement = code[start:at]
        text = _plain(statement)
        label = re.fullmatch(r"public|protected|private", text)
        if c == ":" and not label:
            continue
        if label:
            scopes[-1] = (kind, name, class_shown and text == "public", class_shown)
        elif c == "}":
            scopes.pop()
        elif c == "{" and re.match(r"(inline\s+)?namespace\b", text):
            scopes.append(("namespace", "", True, True))
        elif c == "{" and (found := _CLASS.match(text)):
            is_struct = "class" not in text.split(found[1])[0]
            scopes.append(("class", found[1], shown and is_struct, shown))
        elif declared := function_name(statement):
            first = source.line_of(at - len(statement.lstrip()))
            if shown:
                yield Function(name, declared, statement, first, source.line_of(at))
            if c == "{":
                scopes.append(("body", "", False, False))
        elif c == "{":  # An enumeration, or a value: the statement goes on behind it.
            scopes.append(("body", "", False, False))
        start = at + 1


def needs_no_comment(function, sources):
    """What the compiler writes, and what a base class documents."""
    if re.search(r"=\s*(default|delete)\s*$|\boverride\b", function.statement):
        return True
    special = re.escape(function.scope)
    if not function.scope or function.name not in (function.scope, f"~{function.scope}", "operator="):
        return False
    name = re.escape(function.name)
    defaulted = rf"\b{special}::{name}\s*\([^;{{]*\)\s*(noexcept)?\s*=\s*default"
    return any(re.search(defaulted, source.code) for source in sources)


def undocumented(header, sources):
    before, before_documented = None, False
    for function in functions(header):
        line = function.first - 1
        while "NOLINT" in header.comments.get(line, ""):
            line -= 1
        documented = header.comments.get(line, "").lstrip().startswith("///") or any(
            "///<" in header.comments.get(at, "") for at in range(function.first, function.last + 1))
        grouped = (before is not None and before_documented and before.name == function.name
                   and before.scope == function.scope and before.last + 1 >= function.first)
        if not documented and not grouped and not needs_no_comment(function, sources):
            yield function
        before, before_documented = function, documented or grouped


def every_public_function_is_documented(tree):
    exempt = set()
    if (tree.root / EXEMPT).exists():
        lines = tree.text(EXEMPT).splitlines()
        exempt = {line for line in lines if line and not line.startswith("#")}
    sources = tree.cpp("core", ends=(".cpp",))
    for header in tree.cpp(FOLDER):
        found = list(undocumented(header, sources))
        if header.name in exempt:
            exempt.remove(header.name)
            if not found:
                yield f"{EXEMPT}: {header.name} needs no exemption any more"
            continue
        for function in found:
            shown = f"{function.scope}::{function.name}" if function.scope else function.name
            yield f"{header.name}:{function.first}: {shown} has no doc comment"
    for name in sorted(exempt):
        yield f"{EXEMPT}: there is no header {name}"


RULES = [every_public_function_is_documented]
