"""Rules on where SQL stands and how it is commented."""

import re

from tsql_texts import BLOCK, without_comments

# Upper case anywhere in a literal, or any case where a literal begins.
_STATEMENT = (
    r"SELECT\s|INSERT\s+INTO\b|UPDATE\s.*\sSET\b|DELETE\s+FROM\b|MERGE\s+INTO\b|RETURNING\s"
    r"|(CREATE|ALTER|DROP|TRUNCATE)\s+(UNIQUE\s+)?(TABLE|INDEX|SEQUENCE|VIEW|TRIGGER)\b"
    r"|WITH\s+\w+\s+AS\b|FROM\s+\{\w+\}"
)
STATEMENT = re.compile(_STATEMENT, re.S)
STATEMENT_AT_START = re.compile(rf"\s*({_STATEMENT})", re.S | re.I)
SET_UP = re.compile(r"\s*(PRAGMA|SET|BEGIN|START\s+TRANSACTION)\b")
TRANSACTION = re.compile(r"\s*(COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b\s*;?\s*$")


def sql_lives_in_sql_files(tree):
    for source in tree.cpp("include/tableq", "core", "drivers", "tools"):
        for line, text in source.strings:
            if STATEMENT.search(text) or STATEMENT_AT_START.match(text):
                yield f"{source.name}:{line}: SQL in a literal: {text[:40]!r}"


def session_set_up_is_dialect_data(tree):
    """PRAGMA, SET and BEGIN are data of a dialect; the driver's session may end a transaction."""
    for source in tree.cpp("include/tableq", "core", "drivers", "tools"):
        if re.fullmatch(r"drivers/[a-z]+/dialect\.cpp|include/tableq/unstable/dialect\.hpp", source.name):
            continue
        for line, text in source.strings:
            ends = TRANSACTION.match(text) and source.name.startswith("drivers/")
            if SET_UP.match(text) or (TRANSACTION.match(text) and not ends):
                yield f"{source.name}:{line}: belongs into the dialect: {text[:40]!r}"


def sql_comments_have_a_line_of_their_own(tree):
    """The build strips comment lines, and only whole ones."""
    for path in tree.paths("schema", "drivers", ends=(".sql",)):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            bare = re.sub(r"'[^']*'", "''", line)
            if "/*" in bare or ("--" in bare and not bare.lstrip().startswith("--")):
                yield f"{tree.name(path)}:{number}: a comment beside SQL"


DECIDED = re.compile(r"\b(?:THEN|ELSE)\s+[45]\b")


def states_are_decided_once(tree):
    """A dialect does not decide by itself when a message is dead or held: drivers/states.sql does for all."""
    for path in tree.paths("drivers", ends=("statements.sql",)):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if DECIDED.search(line):
                yield f"{tree.name(path)}:{number}: decides a state; use drivers/states.sql"


ROW_LOCK = re.compile(r"\bFOR (NO KEY )?UPDATE\b")


def row_locks_fit_what_follows(tree):
    """FOR UPDATE hides the rows that rows of open transactions reference: only a DELETE needs it."""
    for path in tree.paths("drivers", ends=("statements.sql",)):
        for block in BLOCK.finditer(path.read_text(encoding="utf-8")):
            text = without_comments(block[2])
            for found in ROW_LOCK.finditer(text):
                if bool(found[1]) == ("DELETE FROM" in text):
                    yield f"{tree.name(path)}: {block[1].strip()}: {found[0]} before another change"


# Where a table, or what is made, is named; and what may stand there that is no table.
TABLE_PLACE = re.compile(
    r"(?:\b(?:FROM|JOIN|INTO|(?<!FOR )(?<!KEY )UPDATE)|\bTABLE(?:\s+IF\s+(?:NOT\s+)?EXISTS)?|"
    r"\bINDEX(?:\s+IF\s+NOT\s+EXISTS)?(?=\s+\S+\s+ON\b))\s+([^\s(),;]+)(\s*\()?"
)
PLACEHOLDER = r"\{(?:table|catalog|limits|floors|schedules|batches|members|quotas|starts)\}"
SYSTEM = re.compile(r"@\w+|pg_\w+(\.\w+)?|sys\.\w+|main\.sqlite_\w+|pragma_\w+")
WORDS = {"SELECT", "SET", "SKIP", "LATERAL", "OF", "ROWS", "ON", "TO", "''"}


def names_of(text):
    """CTEs and aliases: names that a text gives itself."""
    ctes = re.findall(r"(?:\bWITH(?:\s+RECURSIVE)?|,)\s+(\w+)\s*(?:\([^()]*\)\s*)?AS\s+(?:MATERIALIZED\s+)?\(", text)
    return set(ctes) | set(re.findall(r"\bAS\s+(\w+)", text))


def tables_are_qualified(tree):
    """A session of the application's may have other tables of the same names."""
    texts = {path: path.read_text(encoding="utf-8") for path in tree.paths("schema", "drivers", ends=(".sql",))}
    names = re.findall(r"^-- fragment: (\S+)", "\n".join(texts.values()), re.M)
    fragments = {"{" + each + "}" for each in names}
    for path, whole in texts.items():
        name = tree.name(path)
        if name.endswith("/tables.sql"):  # drivers/table_text.cpp writes the schema that the database gave
            continue
        inside = "main." if "sqlite" in name else r"\{main\}" if name == "drivers/statements.sql" else ""
        lines = whole.split("\n")
        text = "\n".join("" if line.lstrip().startswith("--") else line for line in lines)
        text = re.sub(r"'(?:[^']|'')*'", lambda m: "'" + "\n" * m[0].count("\n") + "'", text)
        own = names_of(text)
        for found in TABLE_PLACE.finditer(text):
            what, call = found[1], found[2]
            index = found[0].startswith("INDEX")
            made = rf"{inside}\{{table:\w+\}}" if index else rf"{inside}{PLACEHOLDER}"
            known = re.fullmatch(made, what) or SYSTEM.fullmatch(what) or what in own | WORDS | fragments
            if not known and not (call and found[0].startswith(("FROM", "JOIN"))):
                line = text.count("\n", 0, found.start(1)) + 1
                yield f"{name}:{line}: {what} is in no schema"


# A word and its parenthesis: a call, but for SQL's own forms, which the server looks up in pg_catalog itself.
CALL = re.compile(r"(?<![.\w:{])(?!(?:extract|position|substring)\()[a-z]\w*\(")


def postgresql_calls_its_own_functions(tree):
    """A function of a schema in the search path may fit the arguments better, and runs with the rights of the caller."""
    for path in tree.paths("schema", "drivers", ends=(".sql",)):
        if "postgresql" not in path.parts or path.name == "roles.sql":
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            bare = re.sub(r"'[^']*'", "''", line)
            for found in CALL.findall("" if line.lstrip().startswith("--") else bare):
                yield f"{tree.name(path)}:{number}: write pg_catalog.{found[:-1]}"


RULES = [
    row_locks_fit_what_follows,
    states_are_decided_once,
    postgresql_calls_its_own_functions,
    tables_are_qualified,
    sql_lives_in_sql_files,
    session_set_up_is_dialect_data,
    sql_comments_have_a_line_of_their_own,
]
