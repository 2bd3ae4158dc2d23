"""Rules that keep the layers apart: who may include, name and do what."""

import re

STANDARD = re.compile(r"<[a-z_]+>$")
POSIX = re.compile(r"<(sys/[a-z]+|unistd|fcntl|poll|signal|spawn|termios|pthread)\.h>$")
WINDOWS = re.compile(r"<(io|process|shellapi|windows|winsock2)\.h>$")
PUBLIC = re.compile(r"<tableq/(unstable/)?[a-z_]+\.hpp>$")
CORE = re.compile(r'"core/[a-z_]+/[a-z0-9_]+\.hpp"$')
DRIVERS = re.compile(r'"drivers/[a-z_/]+\.hpp"$')
JSON = re.compile(r"<nlohmann/json(_fwd)?\.hpp>$")
COMMAND_LINE = re.compile(r"<CLI/[A-Za-z]+\.hpp>$")
BOOST = re.compile(r"<boost/[a-z0-9/_]+\.hpp>$")
SOCI = re.compile(r"<soci/[a-z0-9/-]+\.h>$")
SOCI_VERSION = re.compile(r"<soci/version\.h>$")
# An include that ends the compilation with this sentence.
NEEDED_STANDARD = re.compile(r'"tableq needs C\+\+20')
# Of applications that enlist their own connections.
OTHER_LIBRARIES = re.compile(r"<(pqxx/pqxx|SQLiteCpp/SQLiteCpp\.h)>$")
CLIENTS = re.compile(r"<(sqlite3|libpq-fe|sql|sqlext|sqltypes)\.h>$")
BESIDE = re.compile(r'"[a-z_]+\.hpp"$')
GOOGLE_TEST = re.compile(r"<g(test|mock)/[a-z-]+\.h>$")
SUPPORT = re.compile(r'"(support|conformance|model)/[a-z_]+\.hpp"$')
MEASURED = re.compile(r'"databases/databases\.hpp"$')

# The header for event loops is opt-in: it alone reaches Asio, and its parts.
ASIO = re.compile(r'<(tableq/asio/[a-z_]+\.hpp|(boost/)?asio(/version)?\.hpp|fcntl\.h)>$|"tableq/asio\.hpp needs ')

# The SDK of the one header that is for it.
TELEMETRY = re.compile(r"<opentelemetry/[a-z_/]+\.h>$")

ALLOWED = {
    "include/tableq/asio": (STANDARD, PUBLIC, ASIO),
    "include/tableq": (STANDARD, PUBLIC, SOCI_VERSION, NEEDED_STANDARD, TELEMETRY),
    "core": (STANDARD, POSIX, WINDOWS, PUBLIC, CORE, JSON, BOOST),
    "drivers": (STANDARD, POSIX, WINDOWS, PUBLIC, CORE, DRIVERS, SOCI, CLIENTS, BOOST),
    "tools": (STANDARD, POSIX, WINDOWS, PUBLIC, JSON, COMMAND_LINE, BESIDE),
    "tools/serve": (STANDARD, POSIX, PUBLIC, JSON, COMMAND_LINE, BOOST, BESIDE),
    "examples": (STANDARD, POSIX, PUBLIC, SOCI, OTHER_LIBRARIES),
    "bench": (STANDARD, POSIX, PUBLIC, JSON, COMMAND_LINE, BESIDE, MEASURED),
    "bench/databases": (STANDARD, POSIX, PUBLIC, JSON, CLIENTS, BESIDE),
    # Promises to applications: tested by what applications can include.
    "tests/conformance": (STANDARD, POSIX, PUBLIC, SOCI, JSON, GOOGLE_TEST, SUPPORT, BESIDE),
    "tests/model": (STANDARD, POSIX, PUBLIC, SOCI, JSON, GOOGLE_TEST, SUPPORT, BESIDE),
}

DIALECTS = "drivers"
TRANSPORTS = "transport"


def dialects(tree):
    base = tree.root / DIALECTS
    return sorted(p.name for p in base.iterdir() if p.is_dir() and p.name != TRANSPORTS)


def includes_go_one_way(tree):
    for folder, allowed in ALLOWED.items():
        for source in tree.cpp(folder):
            if any(source.name.startswith(f"{inner}/") for inner in ALLOWED if inner.startswith(f"{folder}/")):
                continue
            for line, header in source.includes:
                if source.name == "include/tableq/asio.hpp" and ASIO.match(header):
                    continue
                if not any(pattern.match(header) for pattern in allowed):
                    yield f"{source.name}:{line}: {folder} must not include {header}"


def what_core_declares_is_included(tree):
    """Where files are combined, another one's include hides a missing one."""
    for source in tree.cpp("core", ends=(".cpp",)):
        named = source.matches(r"\bcore::[a-z_]+")
        if named and not any(CORE.match(header) for _, header in source.includes):
            yield f"{source.name}:{named[0][0]}: {named[0][1][0]} without an include of core"


ROOMS = "core/rooms.txt"


def rooms(tree):
    """Room -> the rooms that it may include, and what is wrong with the list itself."""
    allowed, problems = {}, []
    for number, line in enumerate(tree.text(ROOMS).splitlines(), 1):
        if line.startswith(":"):
            room = next(reversed(allowed), None)
            for below in line[1:].split():
                if below not in allowed or below == room:
                    problems.append(f"{ROOMS}:{number}: {below} does not stand above in the list")
                allowed[room].add(below)
        elif line and not line.startswith("#"):
            allowed[line.split()[0]] = set()
    return allowed, problems


def rooms_of_core_keep_their_order(tree):
    allowed, problems = rooms(tree)
    yield from problems
    for source in tree.cpp("core"):
        room = source.name.split("/")[1]
        if room not in allowed:
            yield f"{source.name}: in no room of {ROOMS}"
            continue
        for line, header in source.includes:
            other = re.match(r'"core/([a-z_]+)/', header)
            if other and other[1] != room and other[1] not in allowed[room]:
                yield f"{source.name}:{line}: {room} must not include {other[1]} ({ROOMS})"


def no_modules_include_each_other(tree):
    """A header and its source count as one module."""
    edges = {}
    for source in tree.cpp("core", "drivers"):
        module = source.name.rsplit(".", 1)[0]
        found = {h[1:-5] for _, h in source.includes if h.startswith(('"core/', '"drivers/'))}
        edges.setdefault(module, set()).update(found - {module})
    done = set()

    def visit(module, path):
        if module in path:
            yield " -> ".join(path[path.index(module):] + [module])
        elif module not in done:
            for other in sorted(edges.get(module, ())):
                yield from visit(other, path + [module])
            done.add(module)

    for module in sorted(edges):
        for cycle in visit(module, []):
            yield f"a cycle of includes: {cycle}"


def a_dialect_includes_no_other(tree):
    names = dialects(tree)
    for name in names:
        for source in tree.cpp(f"drivers/{name}"):
            for line, header in source.includes:
                folder = re.match(r'"drivers/([a-z]+)/', header)
                if folder and folder[1] not in (name, TRANSPORTS):
                    yield f"{source.name}:{line}: includes {header}"


def no_database_is_named(tree):
    """But in drivers, and in the plain statements that the bench measures beside."""
    words = re.compile(
        r"sqlite|postgres|libpq|\bpg_|sqlserver|sql server|mssql|odbc|mysql|oracle|firebird", re.I
    )
    # Names and prefixes that no queue may have, because a database keeps them for itself: such a
    # prefix in a literal or a sentence, or such a name that is one of a list.
    reserved = re.compile(r'"(sqlite|pg)_\w*"|\b(sqlite|pg)_(?!\w)|^\s*"(sqlite|pg)",$')
    for folder in ("core", "bench", "tests/conformance", "tests/model"):
        for path in tree.paths(folder, ends=(".cpp", ".hpp", ".txt")):
            if tree.name(path).startswith("bench/databases/"):
                continue
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                if found := words.search(reserved.sub("", line)):
                    yield f"{tree.name(path)}:{number}: names a database: {found[0]}"


# Texts of a session that only some databases need.
OPTIONAL_TEXTS = {
    "drivers/*/savepoint.sql",
    "drivers/*/transaction_state.sql",
    "drivers/*/read_only_state.sql",
    "drivers/*/session_process.sql",
    "drivers/*/kept_statement.sql",
    "drivers/*/probe.sql",
    "drivers/*/begin.sql",
}


def drivers_have_the_same_files(tree):
    """But for a folder below one of them: what this database alone needs."""
    listings = {}
    for name in dialects(tree):
        files = {p.name for p in (tree.root / DIALECTS / name).iterdir() if p.is_file()}
        # A step is for the databases whose tables it changes.
        tables = {p.name for p in (tree.root / f"schema/{name}").glob("*.sql")}
        listings[name] = {f"drivers/*/{f}" for f in files} | {f"schema/*/{f}" for f in tables}
    every = set().union(*listings.values()) - OPTIONAL_TEXTS
    for name, files in listings.items():
        for missing in sorted(every - files):
            yield f"{name}: has no {missing}"


def a_driver_is_small(tree):
    """The table of a database's error numbers is data, as SQL is. A folder below is for what this database
    alone needs."""
    table = re.compile(r"^constexpr rule rules\[\] = \{\n.*?^\};\n", re.M | re.S)
    for name in dialects(tree):
        own = [s for s in tree.cpp(f"drivers/{name}", ends=(".cpp",)) if s.name.count("/") == 2]
        lines = sum(table.sub("", s.text).count("\n") for s in own)
        if lines > 200:
            yield f"drivers/{name}: {lines} lines besides SQL, 200 at most"


# Where virtual functions stand, and how many: the seam between core and drivers (driver, listener), the
# one between drivers and transports, the one between claims and their tables (docs/adr/0024), one within a
# layer, and the news that watches and keepers follow (docs/adr/0033).
VIRTUALS = {
    "driver.hpp": 8, "listener.hpp": 2, "transport.hpp": 7, "combiner.hpp": 1,
    "lease_table.hpp": 10, "waker.hpp": 1, "settlements.hpp": 2, "queue_hook.hpp": 5
}


def the_seam_is_narrow(tree):
    """Every driver or transport must have each of these functions. A new one needs two uses in production
    and a page in docs/adr; then it is counted above. Observers belong to the application."""
    for source in tree.cpp("core", "drivers", ends=(".hpp",)):
        lines = [line for line, _ in source.matches(r"\bvirtual\s+(?!~)")]
        most = VIRTUALS.get(source.name.rsplit("/", 1)[-1], 0)
        if len(lines) > most:
            yield f"{source.name}:{lines[most]}: {len(lines)} virtual functions, {most} at most"


def the_seam_has_no_defaults(tree):
    """A function with a body in the base would be inherited by a driver that forgot it."""
    for source in tree.cpp("core/seam", "drivers", ends=(".hpp",)):
        for line, found in source.matches(r"\bvirtual\s+(~?)([^;{]*)[;{]"):
            ending = r"=\s*default\s*$" if found[1] else r"=\s*0\s*$"
            if not re.search(ending, found[2]):
                name = re.search(r"(\w+)\s*\(", found[2])
                wanted = "defaulted" if found[1] else "pure"
                yield f"{source.name}:{line}: {found[1]}{name[1] if name else '?'} is not {wanted}"


def capabilities(tree):
    """The fields of `struct capabilities`."""
    (header,) = tree.cpp("include/tableq", ends=("dialect.hpp",))
    body = re.search(r"struct capabilities \{(.*?)\n\};", header.code, re.S)
    return re.findall(r"\b([a-z_]+)\s*=[^;]*;", body[1] if body else "")


def every_capability_is_used(tree):
    page = "include/tableq/unstable/dialect.hpp"
    fields = capabilities(tree)
    if not fields:
        yield f"{page}: no capabilities found"
    # One is for the driver's sessions alone. Dialects only set them.
    asking = [s for s in tree.cpp("core", "drivers") if s.name.startswith("core/") or s.name.count("/") == 1]
    code = "\n".join(source.code for source in asking)
    for field in fields:
        if not re.search(rf"(\.|->){field}\b", code):
            yield f"{page}: nothing asks for {field}"


# A worker's threads, those of a watcher and of a keeper, and those of asynchronous enqueues.
THREADS = ("core/worker/engine", "core/waking/watcher", "core/queue/async_writer", "core/watch/keeper")


def the_library_keeps_to_itself(tree):
    """No clock but the database's, no environment, no signals, no threads but those of THREADS."""
    threads = r"\bstd::j?thread\b(?!::id)|\bstd::async\b"
    forbidden = r"system_clock::now|\bgetenv\b|\bsigaction\b"
    for source in tree.cpp("include/tableq", "core", "drivers"):
        has_threads = source.name.startswith(THREADS)
        for line, found in source.matches(forbidden if has_threads else f"{forbidden}|{threads}"):
            yield f"{source.name}:{line}: the library has no {found[0]}"


# Calls that apply the effects of an operation, and where they stand: in few files besides the
# definition's module. A changed limit may make room, too.
TELLERS = ("core/queue/effects.cpp", "core/database/transaction.cpp")
TOLD = {
    r"\bannounce": (*TELLERS, "core/database/database_state"),
    r"\bmade_room": (*TELLERS, "core/limits/known_limits", "core/queue/limit_gates.cpp"),
    r"\broom(?:\(\)|_)\s*\.\s*forget": (*TELLERS, "core/limits/known_limits"),
    r"\bmove_to_dead_letters": ("core/claim/step.cpp", "core/claim/dead_letters"),
    r"\badvance_groups": ("core/claim/step.cpp", "core/claim/groups"),
}


def effects_have_one_place(tree):
    """An operation says what it changed; effects.cpp, or the transaction at its end, tells others."""
    for source in tree.cpp("core"):
        for call, places in TOLD.items():
            if source.name.startswith(places):
                continue
            for line, found in source.matches(rf"{call}\s*\("):
                yield f"{source.name}:{line}: {found[0]}...) is for effects; see TOLD in layers.py"


def values_are_made_in_the_seam(tree):
    """An operation fills a request. A list of values made by hand depends on their positions."""
    for source in tree.cpp("core"):
        if source.name.startswith("core/seam/"):
            continue
        for line, _ in source.matches(r"(?:(?<=core::)|(?<![\w.>:]))value[({]\s*[^(){}\s]"):
            yield f"{source.name}:{line}: a value; fill a request of core/seam, and take values_of it"


RULES = [
    includes_go_one_way,
    what_core_declares_is_included,
    rooms_of_core_keep_their_order,
    no_modules_include_each_other,
    a_dialect_includes_no_other,
    no_database_is_named,
    drivers_have_the_same_files,
    a_driver_is_small,
    the_seam_is_narrow,
    the_seam_has_no_defaults,
    every_capability_is_used,
    the_library_keeps_to_itself,
    effects_have_one_place,
    values_are_made_in_the_seam,
]
