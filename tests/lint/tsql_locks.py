"""The order of locks that the T-SQL texts on a claim queue keep: drivers/sqlserver/statements.sql says it in words."""

import re

from tsql_texts import BLOCK, without_literals

# The columns of each index, with the clustered key that every index has.
COLUMNS = {
    "next": {"state", "due_at", "priority", "id"},
    "done": {"state", "finished_at", "id"},
    "group": {"group_key", "state", "id"},
    "key": {"key", "id"},
    "turns": {"priority", "ready_at", "id", "state"},
}
ROW = set(
    "id state priority due_at fence attempts max_attempts retry expires_at created_at claimed_at finished_at key past_key "
    "group_key headers errors payload ready_at".split()
)
ACCESS = re.compile(r"\{table\}(?:\s+AS\s+(\w+))?\s+WITH \(((?:[^()]|\([^()]*\))*)\)")
BY_ID = re.compile(r"\s+(?:ON \w+\.id = |WHERE (?:\w+\.)?id (?:=|IN) )")
SHARED = re.compile(
    r"(?<!DELETE )\b(?:FROM|JOIN) \{(limits|batches|members|starts)\}(?: AS \w+)?(?: WITH \(([^()]*)\))?")
# Changes of messages that have a fence, or an id that no other queue has given.
FENCED = {f"claim.{name}" for name in "complete keep keep_result progress fail release extend heartbeat adopt".split()}
# The lock of the group is held, without which no one changes a held message's entry in the index of groups.
HELD_BY_ANOTHER_LOCK = {("claim.advance", "following"), ("claim.advance_limited", "following")}


class access:
    """One place in which a text reads the queue's table."""

    def __init__(self, text, found):
        self.alias = found[1]
        hints = found[2]
        index = re.search(r"INDEX \(\{table:(\w+)\}\)", hints)
        self.by_id = index is None and BY_ID.match(text, found.end()) is not None
        self.columns = COLUMNS[index[1] if index else "next"]
        self.keeps = "UPDLOCK" in hints
        self.passes = "READPAST" in hints
        self.taken = self.columns_taken(text, found.start()) & ROW

    def columns_taken(self, text, start):
        if self.alias:
            return set(re.findall(rf"\b{self.alias}\.\[?(\w+)", text))
        selected = text[text.rindex("SELECT", 0, start):start] if "SELECT" in text[:start] else ""
        return set(re.findall(r"(?<!:)\b[a-z_]{2,}", selected))


def accesses(text):
    bare = re.sub(r"INSERT INTO \{table\} WITH \(ROWLOCK\)", " ", without_literals(text))
    return [access(bare, found) for found in ACCESS.finditer(bare)]


def rows_are_locked_before_indexes(name, text, *_):
    if not name.startswith("claim."):
        return
    found = accesses(text)
    by_index = [one for one in found if one.keeps and not one.by_id and (name, one.alias) not in HELD_BY_ANOTHER_LOCK]
    for one in found:
        if by_index and one.keeps and not one.passes:
            yield "it waits for a row, or an entry, and keeps locks of another index than the rows' own"
        if not one.keeps and not one.passes and not one.by_id and one.taken - one.columns:
            lacks = ", ".join(sorted(one.taken - one.columns))
            yield f"it waits for a row ({lacks}) while it has read an entry of another index"


def passing_reads_lock(name, text, *_):
    """Microsoft's page on table hints: under row versioning READPAST needs READCOMMITTEDLOCK."""
    for hints in re.findall(r"WITH \(((?:[^()]|\([^()]*\))*)\)", text):
        if "READPAST" in hints and "READCOMMITTEDLOCK" not in hints:
            yield f"READPAST stands without READCOMMITTEDLOCK: {hints}"


def nothing_waits_under_the_limits(name, text, *_):
    """claim.leased runs while the row of the limits is locked, claim.lost between heartbeats."""
    counts = "WITH (READCOMMITTED, ROWLOCK, FORCESEEK, NOWAIT)"
    if name in ("claim.leased", "claim.lost") and not (text.startswith("SET XACT_ABORT OFF;\n") and "<> 1222\n" in text and counts in text):
        yield "it waits for settlements, or passes their leases"


def shared_rows_are_locked_first(name, text, *_):
    """Limits, batches, members and starts belong to many queues: the row that a text changes, or locks for its caller,
    is locked as it is read, also a row of limits that is not there yet. Texts that only read it wait for no change."""
    reads = SHARED.findall(without_literals(text))
    changes = re.search(r"\b(?:UPDATE|DELETE(?: FROM)?) (?:\{limits\} WITH \(ROWLOCK\)\s+SET|[a-z]\w*\b)", text)
    locks = changes is not None or name in ("limits.lock", "batch.lock")
    for number, (table, hints) in enumerate(reads):
        words = set(re.findall(r"\w+", hints))
        if locks and number == 0:
            wanted = {"UPDLOCK", "HOLDLOCK"} if changes and table == "limits" else {"UPDLOCK"}
            if not wanted <= words:
                yield f"{{{table}}} is read without {' '.join(sorted(wanted))} before its change"
        elif "UPDLOCK" in words or not words & {"READUNCOMMITTED", "READCOMMITTEDLOCK"}:
            yield f"{{{table}}} is read, and not changed, with the locks {hints or 'of chance'}"


def locks_by_name_are_exclusive(name, text, *_):
    if name in ("catalog.lock", "catalog.migrator", "queue.lock", "queue.lock_briefly", "queue.try_lock") and not re.search(
            r"sp_getapplock @Resource = [^,]*, @LockMode = N'Exclusive',", text):
        yield "it takes no exclusive lock by name"


def changes_are_of_the_callers_queue(name, text, *_):
    """A change without a fence meets another queue of the same name with error 52003, and waits for the drop of its own."""
    change = re.search(r"\b(?:INSERT INTO \{table\}|(?:UPDATE|DELETE(?: FROM)?) [a-z]\w*\b)", without_literals(text))
    messages = re.match(r"(?:heap|fifo|lifo|pending|claim)\.", name)
    if messages and change and name not in FENCED and not re.search(
            r"\{catalog\} WITH \(READCOMMITTEDLOCK\)\s+WHERE \[identity\] = CAST\(:own_identity AS bigint\)", text):
        yield "it does not ask whether the queue is still the caller's"


def rows_follow_the_items(root):
    """Settlements of an application's rows lock them in the order of the items, which core has sorted by their keys."""
    texts = dict(BLOCK.findall((root / "drivers/sqlserver/tables.sql").read_text(encoding="utf-8")))
    for name in (" table.settle", " table.delete", " table.keep"):
        if not re.search(r"\nFROM \{given\}\nINNER JOIN .*\nOPTION \(FORCE ORDER, LOOP JOIN\)\s*$", texts[name]):
            yield f"{name.strip()}: nothing keeps the items in front of the table"


LOCK_RULES = [rows_are_locked_before_indexes, passing_reads_lock, nothing_waits_under_the_limits,
              shared_rows_are_locked_first, locks_by_name_are_exclusive, changes_are_of_the_callers_queue]

# Rule -> ways to break it, as in tsql_rules.py.
LOCK_BREACHES = {
    "rows_are_locked_before_indexes": [
        ("claim.replace", "ROWLOCK, READCOMMITTEDLOCK, FORCESEEK, INDEX", "UPDLOCK, ROWLOCK, FORCESEEK, INDEX"),
        ("claim.forget", "READPAST, READCOMMITTEDLOCK, FORCESEEK)\nWHERE q.id", "FORCESEEK)\nWHERE q.id"),
        ("claim.promote", "READPAST, READCOMMITTEDLOCK, FORCESEEK) ON q.id", "FORCESEEK) ON q.id"),
        ("claim.take", "UPDLOCK, ROWLOCK, READPAST", "UPDLOCK, ROWLOCK"),
        ("claim.find", "  SELECT id\n", "  SELECT id, payload\n"),
        ("claim.find_key", "held.id", "held.state"),
        ("claim.enqueue", "ROWLOCK, READCOMMITTEDLOCK", "UPDLOCK, HOLDLOCK, ROWLOCK"),
    ],
    "passing_reads_lock": [("heap.peek", ", READCOMMITTEDLOCK", ""), ("heap.dequeue", ", READCOMMITTEDLOCK", "")],
    "nothing_waits_under_the_limits": [
        ("claim.leased", ", NOWAIT", ""),
        ("claim.leased", "(READCOMMITTED, ", "(READPAST, READCOMMITTEDLOCK, "),
    ],
    "shared_rows_are_locked_first": [
        ("limits.lock", "UPDLOCK, ", ""),
        ("limits.set", "HOLDLOCK, ", ""),
        ("batch.add", "UPDLOCK, ", ""),
        ("batch.lock", "UPDLOCK, ", ""),
        ("batch.rejoin", "UPDLOCK, ", ""),
        ("batch.forget", "UPDLOCK, ", ""),
        ("batch.open", "{members} AS m WITH (READUNCOMMITTED)", "{members} AS m"),
        ("limits.read", "{limits} AS l WITH (READUNCOMMITTED)", "{limits} AS l WITH (UPDLOCK)"),
        ("group.start", "s WITH (READCOMMITTEDLOCK, ", "s WITH (UPDLOCK, "),
    ],
    "locks_by_name_are_exclusive": [("queue.lock", "N'Exclusive'", "N'Shared'"), ("catalog.migrator", "sp_getapplock", "x")],
    "changes_are_of_the_callers_queue": [
        ("heap.enqueue", "{catalog} WITH (READCOMMITTEDLOCK)", "{catalog}"),
        ("claim.cancel", "[identity] = CAST(:own_identity AS bigint)", "1 = 1"),
    ],
}
