"""The rules that keep the C interface whole: every function and option of C++ has its part there, or a reason."""

import re

from declarations import declarations

PAGE = "docs/c.md"
HEADER = "include/tableq.h"
# Options of C++ that are objects of options in C.
OPTIONS = (
    "open_options", "order_options", "claim_options", "group_options", "claim_enqueue_options", "enqueue_options",
    "pending_options", "dequeue_options", "take_options", "fail_options", "queue_limits", "stats_options",
    "purge_options", "redrive_options", "migrate_options", "when_full", "shortcuts",
)
# What calls return, as results in C. Members that stand for others: a delivery's receipt has the id.
RESULTS = (
    "message", "delivery", "stored_message", "failure_record", "queue_info", "group_options", "finding",
    "migration_step", "queue_stats", "claim_stats", "queue_rates", "redriven", "lost_lease", "table_guarantee",
)
OTHER_NAMES = {
    "queue_info::table": "definition", "queue_info::retry": "retry_ms", "queue_info::groups": "group_limit",
    "group_options::enabled": "group_limit", "open_options::shortcuts": "combining",
    "claim_options::retention": "retain_done", "queue_info::retention": "retain_done_ms",
}


def c_functions(tree):
    return set(re.findall(r"^TQ_API [^(]*?\b(tq_\w+)\(", tree.text(HEADER), re.M))


def table(tree):
    """The rows of the page's table: names of C++, and what stands beside them."""
    for left, right in re.findall(r"^\| (`.*?) \| (.*) \|$", tree.text(PAGE), re.M):
        names, scope = [], ""
        for name in re.findall(r"`([\w:*]+)`", left):
            scope, _, last = name.rpartition("::") if "::" in name else (scope, "", name)
            names.append(f"{scope}::{last}" if scope else last)
        yield names, right


def public_functions(tree):
    """Without constructors, destructors, operators, and what is declared for templates."""
    for header in tree.cpp("include/tableq"):
        # For C++ with Asio alone.
        if header.name.startswith("include/tableq/asio"):
            continue
        for function in declarations(header):
            made = function.name.lstrip("~") == function.scope
            if function.kind == "function" and not made and not re.match(r"operator|requires$", function.name):
                yield header, function


def every_function_has_one_in_c(tree):
    functions = c_functions(tree)
    page = tree.text(PAGE)
    mapped = set()
    for names, right in table(tree):
        mapped |= set(names)
        if not right.startswith("none: ") and not re.search(r"`tq_\w+`|`\w+`|`?tx`?|TQ_FOR|outcome", right):
            yield f"{PAGE}: {names[0]} has neither a function nor a reason"
    known = set()
    for header, function in public_functions(tree):
        name = function.shown_name()
        known |= {name, f"{function.scope}::*"}
        if not mapped & {name, f"{function.scope}::*"}:
            yield f"{header.name}:{function.first}: {name} is not in the table of {PAGE}"
    for name in sorted(mapped - known):
        yield f"{PAGE}: the table has {name}, which is no public function"
    named = set(re.findall(r"`(tq_\w+)`", page))
    for name in sorted(functions - named):
        yield f"{PAGE}: {name} of {HEADER} is not on the page"
    for name in sorted(named - functions):
        yield f"{PAGE}: {name} is not in {HEADER}"


def members(tree, structs):
    for header in tree.cpp("include/tableq"):
        for member in declarations(header):
            if member.kind == "member" and member.scope in structs:
                yield header, member


def every_option_has_its_key(tree):
    """Also each field of a result."""
    page = tree.text(PAGE)
    keys = set(re.findall(r'"(\w+)"', "".join(s.text for s in tree.cpp("bindings/c"))))
    for structs, what in ((OPTIONS, "key"), (RESULTS, "field")):
        for header, member in members(tree, structs):
            name = OTHER_NAMES.get(member.shown_name(), member.name)
            found = keys & {name, f"{name}_ms", f"group_{name}"}
            by_call = name in ("headers", "stop", "groups")  # tq_options_set_header and the like
            if not found and not by_call and f"`{member.shown_name()}`" not in page:
                yield f"{header.name}:{member.first}: {member.shown_name()} has no {what} in C; see {PAGE}"


def every_c_function_is_tested(tree):
    called = set()
    for path in tree.paths("tests/c", ends=(".c", ".h", ".cpp", ".hpp")):
        called |= set(re.findall(r"\b(tq_\w+)\b", path.read_text(encoding="utf-8")))
    for name in sorted(c_functions(tree) - called):
        yield f"{HEADER}: no test in tests/c calls {name}"


RULES = [every_function_has_one_in_c, every_option_has_its_key, every_c_function_is_tested]
