"""The declarations that a header shows to its users."""

import re

_SKIPPED = re.compile(r"(using|typedef|static_assert|namespace|extern|enum)\b")
_CLASS = re.compile(r"(?:template\s*)?(?:class|struct)\s+(?:TABLEQ_EXPORT\s+)?(\w+)(?:\s+final)?(\s*:[^:].*)?$", re.S)
_NAME = re.compile(r"(operator\s*(?:\(\)|[^\s\w(]+|[\w:&*\s]+)|~?\w+)\s*\((?!\s*\*)")
_NO_MEMBER = re.compile(r"(friend|class|struct|template)\b")
_MEMBER = re.compile(r"\w[\w:&*\s]*?(?:\(\s*\*\s*(\w+)\s*\)|[\s&*]([A-Za-z_]\w*)\s*(?:\[.*\]\s*)?(?:=.*)?$)", re.S)


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


def member_name(statement):
    """The name that a statement in a class declares data by; None where it declares none."""
    text = _plain(statement)
    found = None if _SKIPPED.match(text) or _NO_MEMBER.match(text) else _MEMBER.match(text)
    return (found[1] or found[2]) if found else None


class Declaration:
    def __init__(self, kind, scope, name, statement, first, last):
        self.kind = kind  # "class" (by that keyword), "struct", "function" or "member"
        self.scope, self.name, self.statement = scope, name, statement
        self.first, self.last = first, last  # lines

    def shown_name(self):
        return f"{self.scope}::{self.name}" if self.scope else self.name

    def comment(self, header):
        """Its doc comment: the lines before it, and `///<` behind it. Empty if it has none."""
        code, lines, at = header.code.split("\n"), [], self.first - 1
        while (text := header.comments.get(at, "").strip()) and not code[at - 1].strip():
            if text.startswith("///") and not text.startswith("///<"):
                lines.insert(0, text.removeprefix("///"))
            elif "NOLINT" not in text:
                break
            at -= 1
        own = (header.comments.get(n, "") for n in range(self.first, self.last + 1))
        lines += [text.split("///<", 1)[1] for text in own if "///<" in text]
        return "\n".join(lines).strip()


def declarations(source):
    """The public classes, functions and data members of a header, in their order."""
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

        def declared(what, by):
            first = source.line_of(at - len(statement.lstrip()))
            return Declaration(what, name, by, statement, first, source.line_of(at))

        if label:
            scopes[-1] = (kind, name, class_shown and text == "public", class_shown)
        elif c == "}":
            scopes.pop()
        elif c == "{" and re.match(r"(inline\s+)?namespace\b", text):
            scopes.append(("namespace", "", True, True))
        elif c == "{" and (found := _CLASS.match(text)):
            is_struct = "class" not in text.split(found[1])[0]
            if shown:
                yield declared("struct" if is_struct else "class", found[1])
            scopes.append(("class", found[1], shown and is_struct, shown))
        elif function := function_name(statement):
            if shown:
                yield declared("function", function)
            if c == "{":
                scopes.append(("body", "", False, False))
        else:
            if shown and kind == "class" and (member := member_name(statement)):
                yield declared("member", member)
            if c == "{":  # An enumeration, or a value: the statement goes on behind it.
                scopes.append(("body", "", False, False))
        start = at + 1
