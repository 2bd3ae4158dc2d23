"""What a T-SQL text must keep beside the grammar. Each rule takes (name, text, contracts, aliases)."""

import re

from tsql_texts import ITEMS, PARAMETER, returned, without_literals

# What version 2016 lacks, and what misleads. Microsoft's parser refuses what is no T-SQL: tsql_parser.py.
FOREIGN = {
    r"\bOFFSET\b": "OFFSET: write TOP (n) and a seek",
    r"\bMERGE\b": "MERGE: it does not keep others out",
    r"\bNOLOCK\b": "NOLOCK reads what is not committed",
    r"::": ":: is no cast here",
    r'"': "quote names with brackets",
    r"#\w": "temporary tables belong to the session",
    r"\b(STRING_AGG|CONCAT_WS|TRIM|TRANSLATE|GREATEST|LEAST|GENERATE_SERIES|DATE_BUCKET|"
    r"DATETRUNC|JSON_OBJECT|JSON_ARRAY|STRING_SPLIT)\s*\(": "a function that came after 2016",
    r"\bIS\s+(NOT\s+)?DISTINCT\s+FROM\b": "IS DISTINCT FROM came with 2022",
    r"(?<![\[:\w])window(?![\]\w])": "window is reserved since 2022: write [window]",
    r"\bIDENT_CURRENT\b": "IDENT_CURRENT tells of a first row that is yet to come",
    r"\b(GETDATE|GETUTCDATE|SYSDATETIME|CURRENT_TIMESTAMP|DATEADD|DATEDIFF)\b": "not the one clock",
    # Division by such a literal leaves a fraction.
    r"(?<!CAST\()\b(2147483648|[3-9]\d{9}|\d{11,})\b": "a literal over 2^31 is a decimal: cast it",
    # A literal is a batch of its own, whose settings end with it.
    r"(?i)\bsp_executesql\b(?! N')": "a text does not make texts",
}

# Of items that are those of another statement too.
UNUSED = {
    "claim.enqueue": {"leads"},  # one writer
    "claim.replace": {"created_at", "group", "leads"},  # claim.enqueue
    "claim.adopt": {"state", "due_at", "attempts", "finished_at", "expires_at", "max_attempts", "retry",
                    "group"},  # claim.restore
    "claim.advance": {"starts", "alarm_at"},  # claim.advance_limited
    "claim.tokens": {"starts", "alarm_at"},
}

STRICT = re.compile(r"\.dequeue_strict$")
TAKES = re.compile(r"\.(dequeue|purge|take|promote|redrive_all)$")
SETTLES = re.compile(r"^claim\.(complete|keep|keep_result|fail|release|extend|redrive|remove|cancel|set_priority|make_ready)$")
LOOKS = re.compile(r"\.(peek|filter|groups|list|list_ready|list_held|list_waiting|stats|letters|next_due|count|notes)$")
OWN = {
    "claim.enqueue": ["READCOMMITTEDLOCK ROWLOCK"],
    "claim.find_key": ["READCOMMITTED ROWLOCK"],
    "claim.get": ["READCOMMITTED ROWLOCK"],
    "claim.find": ["READCOMMITTED ROWLOCK"],
    "claim.state_of": ["READCOMMITTED ROWLOCK"],
    "claim.leased": ["READCOMMITTED ROWLOCK"],
    "claim.outcome": ["READCOMMITTED ROWLOCK"],
    "claim.progress": ["READCOMMITTEDLOCK READPAST ROWLOCK UPDLOCK"],
    "claim.heartbeat": ["READCOMMITTEDLOCK READPAST ROWLOCK UPDLOCK"],
    "claim.lost": ["READCOMMITTEDLOCK READPAST ROWLOCK", "READCOMMITTED ROWLOCK"],
    "claim.unseen": ["READCOMMITTEDLOCK ROWLOCK", ""],
    "claim.group_of": ["READCOMMITTED ROWLOCK"],
    "claim.forget": ["READCOMMITTEDLOCK READPAST ROWLOCK UPDLOCK"],
    "claim.free": ["READCOMMITTEDLOCK READPAST ROWLOCK UPDLOCK"],
    "claim.advance": ["READCOMMITTED ROWLOCK", "ROWLOCK UPDLOCK"],
    "claim.advance_limited": ["READCOMMITTED ROWLOCK", "ROWLOCK UPDLOCK", "READCOMMITTEDLOCK READPAST ROWLOCK",
                              "READCOMMITTEDLOCK READPAST ROWLOCK UPDLOCK"],
    "claim.tokens": ["READCOMMITTED ROWLOCK"],
    "claim.hold": ["READCOMMITTEDLOCK READPAST ROWLOCK UPDLOCK"],
    "claim.next_groups": ["READCOMMITTEDLOCK READPAST ROWLOCK"],
    "claim.replace": ["READCOMMITTEDLOCK ROWLOCK", "ROWLOCK UPDLOCK"],
    "claim.due": ["READCOMMITTEDLOCK READPAST ROWLOCK", "READCOMMITTEDLOCK READPAST ROWLOCK UPDLOCK"],
}
# The locks of their groups are held.
ONE_BY_ONE = {"claim.advance", "claim.advance_limited", "group.start"}
JOINED = {"claim.find_key", "claim.group_of", "claim.forget", "claim.free", "claim.advance",
          "claim.advance_limited"}
LOCKS = {"UPDLOCK", "HOLDLOCK", "ROWLOCK", "READPAST", "READCOMMITTED", "READCOMMITTEDLOCK"}
TAKE = {"UPDLOCK", "ROWLOCK", "READPAST", "READCOMMITTEDLOCK"}
LOOK = {"READCOMMITTEDLOCK", "ROWLOCK", "READPAST"}
WAIT = {"UPDLOCK", "ROWLOCK"}


def says_nothing_foreign(name, text, *_):
    bare = without_literals(text)
    for pattern, why in FOREIGN.items():
        if found := re.search(pattern, bare):
            yield f"{found[0].strip()}: {why}"


def batches_are_no_procedures(name, text, *_):
    bare = re.sub(r"\b(BEGIN|END) (TRY|CATCH)\b", " ", without_literals(text))
    bare = re.sub(r"^(WHILE .*)\nBEGIN\n(.*?)\nEND$", r"\1\n\2", bare, flags=re.M | re.S)
    if re.search(r"\b(BEGIN|GO|WAITFOR|COMMIT|ROLLBACK)\b", bare):
        yield "transactions and blocks are not a text's business"


def parameters_are_cast(name, text, *_):
    bare = without_literals(text)
    for found in PARAMETER.finditer(bare):
        if found[1] != "item" and not bare[:found.start()].endswith("CAST("):
            yield f":{found[1]} is not cast where it stands"


def parameters_are_of_the_contract(name, text, contracts, aliases):
    for of in (alias for alias, first in aliases.items() if first == name):
        if of not in contracts:
            yield f"there is no contract {of}"
            continue
        shared, items, _ = contracts[of]
        shared = shared + ["own_identity", "now"]
        inside = " ".join(ITEMS.findall(text))
        outside = ITEMS.sub(" ", text)
        for known, where, part in ((shared, "outside", outside), (items + ["item"], "inside", inside)):
            for parameter in set(PARAMETER.findall(without_literals(part))):
                if parameter not in known * bool(items or where == "outside"):
                    yield f":{parameter} does not stand {where} the items of {of}"
        for missing in set(items) - set(PARAMETER.findall(inside)) - UNUSED.get(of, set()):
            yield f":{missing} is not used by {of}"


def columns_are_of_the_contract(name, text, contracts, aliases):
    for of in (alias for alias, first in aliases.items() if first == name and alias in contracts):
        _, items, columns = contracts[of]
        wanted = ["item"] * bool(items) + columns
        if columns and returned(text) != wanted:
            yield f"{of} returns {returned(text)}, not {wanted}"


def batches_leave_out_the_rest(name, text, contracts, aliases):
    """Rows beyond the last item are NULL; a joined NULL finds nothing by itself."""
    if not ITEMS.search(text):
        return
    if len(ITEMS.findall(text)) > 1 or text.count("{items") > 1:
        yield "more than one {items: ...}"
    if not re.search(r"WHERE \w+\.(payload|id|wanted|\[identity\]|\[group\]) IS NOT NULL", text) and name not in JOINED:
        yield "rows beyond the last item are not left out"
    if not re.search(r"\(VALUES \{items: \(:item, ", text):
        yield "the items are not VALUES that begin with :item"


def message_reads_have_their_locks(name, text, *_):
    if not re.match(r"(heap|fifo|lifo|pending|claim)\.", name):
        return
    bare = re.sub(r"INSERT INTO \{table\}|\bINDEX \(\{table:\w+\}\)", " ", without_literals(text))
    for found in re.finditer(r"\{table\}(?:\s+AS\s+\w+)?\s*(WITH \(([^()]*)\))?", bare):
        hints = set(re.findall(r"\w+", found[2] or "")) & LOCKS
        if name in OWN:
            right = [set(each.split()) for each in OWN[name]]
        elif STRICT.search(name) or SETTLES.search(name):
            right = [WAIT]
        elif name == "claim.take":
            right = [TAKE, LOOK]
        else:
            right = [TAKE] if TAKES.search(name) else [LOOK] if LOOKS.search(name) else []
        if hints not in right:
            yield f"a read of {{table}} has the locks {' '.join(sorted(hints)) or 'of chance'}"


def changes_name_their_table(name, text, *_):
    """What is changed is a table of tableq, or a CTE or alias that stands for it."""
    change = r"\b(?:INSERT INTO|DELETE FROM|DELETE|UPDATE)\s+([\w{\[][^\s(]*)"
    for found in re.finditer(change, without_literals(text)):
        target = found[1]
        if target in ("FROM", "{table}", "{catalog}", "{limits}", "{batches}", "{members}", "{schedules}", "{quotas}", "{starts}"):
            continue
        cte = rf"WITH {re.escape(target)} AS \(\s*SELECT TOP \([^;]*?\bFROM \{{(?:table|batches|starts)\}} WITH"
        alias = rf"\{{(?:table|batches|members|starts)\}} AS {re.escape(target)} WITH"
        if not re.search(cte, text) and not re.search(alias, text):
            yield f"{target} stands for no table"


def targets_take_few_hints(name, text, *_):
    """Microsoft's page on table hints: not these beside the name of what is changed, only in its FROM."""
    for target, hints in re.findall(r"\b(?:INSERT INTO|DELETE FROM|UPDATE) (\{\w+\}) WITH \(([^()]*)", without_literals(text)):
        if re.search(r"\b(FORCESEEK|INDEX|NOEXPAND)\b", hints):
            yield f"{target} is changed by its name and has {hints}: change an alias"


def joins_keep_their_order(name, text, *_):
    joins = SETTLES.search(name) or name in (
        "claim.replace", "claim.promote", "claim.purge", "claim.find_key", "claim.heartbeat", "claim.progress", "claim.lost",
        "claim.unseen"
    )
    if joins and "OPTION (FORCE ORDER, LOOP JOIN)" not in text:
        yield "nothing keeps the items in front of the table"
    if name == "claim.enqueue" and "OPTION (LOOP JOIN" not in text:
        yield "nothing keeps the locks to the gaps of the keys"


def ids_follow_the_items(name, text, *_):
    if name.endswith(".enqueue") and not re.search(r"\nORDER BY v\.item\nOPTION \(.*MAXDOP 1\)$", text):
        yield "nothing draws the ids in the order of the items"


def top_is_never_null(name, text, *_):
    """A row beyond the last item has NULLs, and TOP (NULL) is error 1014: a comparison with NULL goes to ELSE."""
    bare = without_literals(text)
    for found in re.finditer(r"\bTOP \(CASE ", bare):
        end = end_of_parentheses(bare, bare.index("(", found.start()))
        if not re.search(r"ELSE (?:0|CAST\(:\w+ AS bigint\)) END$", bare[found.start():end]):
            yield "a CASE in TOP ends with a column that may be NULL: end it with ELSE 0"


def stored_json_is_checked(name, text, *_):
    """Plain SQL may have written anything where CHECKs were lifted, and error 13609 would stop a whole batch."""
    read = set(re.findall(r"\b(?:JSON_QUERY|JSON_VALUE|JSON_MODIFY|OPENJSON)\((?:COALESCE\()?(\w+\.\[?\w+)", text))
    for column in sorted(read - {"h.errors", "h.rules", "e.entry", "e.[value"}):
        yield f"{column} is read as JSON, and nothing has checked it"
    for column, stored in (("h.errors", "errors"), ("h.rules", "retry")):
        if column in read and f"CASE WHEN ISJSON(q.{stored}) = 1 " not in text.replace("DATALENGTH(q.errors) <= 2000000 AND ", ""):
            yield f"{column} is read as JSON, and nothing has checked q.{stored}"


def tables_have_aliases(name, text, *_):
    """A queue may have the name of an alias: `t.clock` would then be a column of its table."""
    bare = without_literals(text)
    uses = set(re.findall(r"\b([a-z]\w*)\.\[?[a-z]", bare)) - {"inserted", "deleted", "sys"}
    if uses and re.search(r"\b(FROM|JOIN) \{table\}(?! AS )", bare):
        yield f"a {{table}} without an alias stands beside {', '.join(sorted(uses))}"


def order_is_by_columns(name, text, *_):
    """ORDER BY x means the x of the rows first: a cast of the column x sorts otherwise."""
    casts = set(re.findall(r"CAST\((?:\w+\.)?(\w+) AS [^)]*\)?\) AS \1\b", text))
    for order in re.findall(r"^ORDER BY (.*)", text, flags=re.M):
        for column in casts & set(re.findall(r"(?<![.\w])\w+", order)):
            yield f"it is ordered by the cast {column}: give its table an alias"


def inserts_lock_rows(name, text, *_):
    """Without the hint an INSERT may lock pages, which READPAST does not pass."""
    for found in re.finditer(r"INSERT INTO \{(?:table|limits|batches|members|schedules|quotas|starts)\}(?! WITH \(ROWLOCK\))", text):
        yield f"{found[0]} has no ROWLOCK"


def end_of_parentheses(text, begin):
    depth = 0
    for at in range(begin, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at
    return len(text)


def ctes_are_read_once(name, text, *_):
    """The server evaluates a CTE at each use: another transaction may have changed what it reads in between."""
    bare = without_literals(text) if not name.startswith("doctor.") else ""
    for found in re.finditer(r"(?:WITH|\),)\s+(\w+) (?:\([^()]*\) )?AS \(", bare):
        cte = found[1]
        end = end_of_parentheses(bare, found.end() - 1)
        # A recursive one also reads itself, once.
        for part in (bare[found.end():end], bare[:found.start()] + bare[end:]):
            if len(re.findall(rf"\b(?:FROM|JOIN) {cte}\b", part)) > 1:
                yield f"{cte} is read twice, and may have other rows the second time"


def items_are_waited_for_in_one_order(name, text, *_):
    """ROW_NUMBER sorts the items by the ids that it numbers: two calls lock their rows in the same order."""
    waits = [hints for hints in re.findall(r"WITH \(([^()]*)\)", text) if "UPDLOCK" in hints and "READPAST" not in hints]
    if "{items" in text and waits and name not in ONE_BY_ONE and "ROW_NUMBER() OVER (PARTITION BY g." not in text:
        yield "it waits for rows in the order in which they were given"


RULES = [
    says_nothing_foreign,
    batches_are_no_procedures,
    parameters_are_cast,
    parameters_are_of_the_contract,
    columns_are_of_the_contract,
    batches_leave_out_the_rest,
    message_reads_have_their_locks,
    changes_name_their_table,
    targets_take_few_hints,
    joins_keep_their_order,
    ids_follow_the_items,
    top_is_never_null,
    stored_json_is_checked,
    tables_have_aliases,
    order_is_by_columns,
    inserts_lock_rows,
    ctes_are_read_once,
    items_are_waited_for_in_one_order,
]

# Rule -> ways to break it: (name, what is there, what stands there instead).
BREACHES = {
    "says_nothing_foreign": [
        ("catalog.list", "{catalog}", "{catalog}::x"),
        ("schema.pending", "DATEDIFF_BIG", "DATEDIFF"),
        ("claim.take", "CAST(4294967296 AS bigint)", "4294967296"),
        ("claim.keep_result", "key_window", "window"),
        ("heap.stats", "AS last_id", "AS last_id, IDENT_CURRENT(N'{table}') AS next_id"),
    ],
    "batches_are_no_procedures": [("catalog.list", "SELECT", "BEGIN SELECT")],
    "parameters_are_cast": [("heap.peek", "CAST(:max AS bigint)", ":max")],
    "parameters_are_of_the_contract": [
        ("heap.peek", ":max", ":most"),
        ("claim.extend", ":fence", ":now"),
        ("claim.keep", ":now", ":id"),
        ("pending.enqueue", "CAST(:delay AS bigint)", "CAST(NULL AS bigint)"),
    ],
    "columns_are_of_the_contract": [
        ("claim.complete", "OUTPUT v.item, deleted.id", "OUTPUT deleted.id, v.item"),
        ("claim.take", "inserted.headers, ", ""),
        ("claim.stats", "AS dead", "AS died"),
    ],
    "batches_leave_out_the_rest": [
        ("heap.enqueue", "WHERE v.payload IS NOT NULL\n", ""),
        ("claim.fail", "(:item, ", "(1, "),
    ],
    "message_reads_have_their_locks": [
        ("heap.dequeue", "UPDLOCK, ROWLOCK, READPAST", "UPDLOCK, READPAST"),
        ("claim.take", "UPDLOCK, ROWLOCK, READPAST", "UPDLOCK, ROWLOCK"),
        ("claim.take", "ROWLOCK, READPAST, READCOMMITTEDLOCK", "ROWLOCK, READPAST"),
        ("claim.take", " WITH (UPDLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK, FORCESEEK)", ""),
        ("fifo.dequeue_strict", "ROWLOCK", "ROWLOCK, READPAST"),
        ("claim.complete", "ROWLOCK", "ROWLOCK, READPAST"),
        ("heap.stats", ", READCOMMITTEDLOCK", ""),
        ("claim.enqueue", "READCOMMITTEDLOCK", "UPDLOCK"),
    ],
    "changes_name_their_table": [
        ("heap.dequeue", "DELETE FROM picked", "DELETE FROM other"),
        ("claim.keep", "UPDATE q", "UPDATE v"),
        ("catalog.remove", "DELETE FROM {catalog}", "DELETE FROM tableq_queues"),
    ],
    "targets_take_few_hints": [
        ("limits.spend", "WITH (ROWLOCK)", "WITH (ROWLOCK, FORCESEEK)"),
        ("schedules.remove", "WITH (ROWLOCK)", "WITH (FORCESEEK)"),
    ],
    "joins_keep_their_order": [
        ("claim.promote", "OPTION (FORCE ORDER, LOOP JOIN)", ""),
        ("claim.enqueue", "LOOP JOIN, ", ""),
    ],
    "ids_follow_the_items": [("heap.enqueue", "ORDER BY v.item\n", "")],
    "top_is_never_null": [
        ("claim.advance_limited", "WHEN room.free > 0 THEN room.free ELSE 0 END)", "ELSE room.free END)"),
        ("claim.advance", " ELSE 0 END) following", " END) following"),
    ],
    "stored_json_is_checked": [
        ("claim.fail", "JSON_QUERY(h.rules,", "JSON_QUERY(COALESCE(q.retry, t.policy),"),
        ("claim.fail", "CASE WHEN ISJSON(q.retry) = 1 THEN q.retry END", "q.retry"),
        ("claim.promote", "ISJSON(q.errors) = 1 AND ", ""),
        ("claim.filter", "CASE WHEN ISJSON(q.headers) = 1 THEN q.headers END", "q.headers"),
    ],
    "tables_have_aliases": [("claim.stats", "{table} AS own", "{table}"), ("pending.next_due", "{table} AS own", "{table}")],
    "order_is_by_columns": [("group.list", "ORDER BY l.name", "ORDER BY name")],
    "ctes_are_read_once": [
        ("batch.strays", "message = last_one", "message = (SELECT MAX(message) FROM page)"),
        ("claim.filter", "place = number", "place = (SELECT COUNT(*) FROM seen)"),
    ],
    "items_are_waited_for_in_one_order": [("batch.rejoin", "ROW_NUMBER() OVER (PARTITION BY g.former ORDER BY g.item)", "1")],
    "inserts_lock_rows": [("heap.enqueue", " WITH (ROWLOCK)", ""), ("limits.set", " WITH (ROWLOCK) (queue)", " (queue)")],
}
