"""The rules for doc comments of functions, of data members, and of what a class owns."""

import re

from declarations import declarations

FOLDER = "include/tableq"
# The parts of opt-in headers.
PARTS = "include/tableq/asio/"


def public_headers(tree):
    return [header for header in tree.cpp(FOLDER) if not header.name.startswith(PARTS)]


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


def result_type(function):
    """Of the function, without attributes: `void`."""
    before = re.split(rf"{re.escape(function.name)}\s*\(", function.statement)[0]
    return " ".join(re.sub(r"\[\[.*?\]\]|\bTABLEQ_EXPORT\b", " ", before, flags=re.S).split())


def undocumented(header, sources):
    """One comment serves overloads of one result that follow each other."""
    before, before_documented = None, False
    for function in declarations(header):
        if function.kind != "function":
            continue
        documented = bool(function.comment(header))
        grouped = (before is not None and before_documented and before.name == function.name
                   and before.scope == function.scope and before.last + 1 >= function.first
                   and result_type(before) == result_type(function))
        if not documented and not grouped and not needs_no_comment(function, sources):
            yield function
        before, before_documented = function, documented or grouped


def every_public_function_is_documented(tree):
    sources = tree.cpp("core", ends=(".cpp",))
    for header in public_headers(tree):
        for function in undocumented(header, sources):
            yield f"{header.name}:{function.first}: {function.shown_name()} has no doc comment"


def every_public_member_is_documented(tree):
    """One comment for each: a comment over two members leaves the second without one."""
    for header in public_headers(tree):
        for member in declarations(header):
            if member.kind == "member" and not member.comment(header):
                yield f"{header.name}:{member.first}: {member.shown_name()} has no doc comment"


def every_public_class_says_what_it_owns(tree):
    """A sentence begins with Owns, Borrows, Shares, Shared or A value. Only a value, and what is used for
    one call, need no note on threads; a derived class may name its base for it."""
    for header in public_headers(tree):
        for found in declarations(header):
            if found.kind != "class":
                continue
            comment = " ".join(found.comment(header).split())
            sentence = re.search(r"(?:^|[.:] )(Owns|Borrows|Shares|Shared|A value)\b[^.]*", comment)
            where = f"{header.name}:{found.first}: {found.shown_name()}"
            if not sentence:
                yield f"{where} does not say whether it owns, borrows, shares or is a value"
                continue
            bases = re.findall(r"\bpublic\s+(\w+)", found.statement)
            if not (sentence[1] == "A value" or "until the call returns" in sentence[0]
                    or "@par Thread safety" in comment
                    or any(re.search(rf"[Ss]ee `{base}`", comment) for base in bases)):
                yield f"{where} has no note on thread safety"


RULES = [
    every_public_function_is_documented,
    every_public_member_is_documented,
    every_public_class_says_what_it_owns,
]
