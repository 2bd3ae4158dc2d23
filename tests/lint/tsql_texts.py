"""The T-SQL texts of SQL Server's dialect, as the server would get them, and what they must return."""

import re
from pathlib import Path

KINDS = ("catalog", "heap", "fifo", "lifo", "pending", "claim", "turns")
BLOCK = re.compile(r"^-- name:(.*)\n((?:(?!-- (?:name|fragment):).*\n?)*)", re.M)
FRAGMENT = re.compile(r"^-- fragment:(.*)\n((?:(?!-- (?:name|fragment):).*\n?)*)", re.M)
ITEMS = re.compile(r"\{items:\s*(.*?)\}", re.S)
LITERAL = re.compile(r"'(?:[^']|'')*'")
PARAMETER = re.compile(r"(?<![:\w]):(\w+)")


def without_comments(text):
    return "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("--")).strip()


def without_literals(text):
    """Literals are emptied; names in them stay out of the rules' way."""
    return LITERAL.sub("''", text)


def with_fragments(statements, given_clock, turns=False, columns=None):
    """The blocks of a statements file, with each fragment in the place of its name.

    With `turns` they are those of a queue whose groups take turns, with `columns` (outline, seen) those that read
    fewer columns.
    """
    endings = {".given": given_clock, ".turns": turns, ".outline": columns == "outline", ".seen": columns == "seen"}
    fragments = {}

    def put(text):
        for name, body in fragments.items():
            text = text.replace("{" + name + "}", body)
        return text

    for found in FRAGMENT.finditer(statements):
        name = found[1].strip()
        ending = next((each for each in endings if name.endswith(each)), "")
        if ending and not endings[ending]:
            fragments.setdefault(name.removesuffix(ending), "")
            continue
        fragments[name.removesuffix(ending)] = put(without_comments(found[2]))
    return [(block[1].split(), put(without_comments(block[2]))) for block in BLOCK.finditer(statements)]


def whole_statements(root):
    """The statements file with the states of all dialects before its first statement, as it is embedded."""
    statements = (root / "drivers/sqlserver/statements.sql").read_text(encoding="utf-8")
    states = (root / "drivers/states.sql").read_text(encoding="utf-8")
    first = statements.index("\n-- name:")
    return statements[:first] + "\n" + states + statements[first:]


def read_texts(root, given_clock=False, turns=False, columns=None):
    """Name -> text: each block by its first name, `setup`, `schema.<kind>`, and all `roles`."""
    root = Path(root)
    texts, aliases = {}, {}
    for names, text in with_fragments(whole_statements(root), given_clock, turns, columns):
        texts[names[0]] = text
        aliases.update({name: names[0] for name in names})
    texts["setup"] = without_comments((root / "drivers/sqlserver/setup.sql").read_text(encoding="utf-8"))
    for kind in KINDS:
        path = root / f"schema/sqlserver/{kind}.sql"
        texts[f"schema.{kind}"] = without_comments(path.read_text(encoding="utf-8"))
    roles = (root / "schema/sqlserver/roles.sql").read_text(encoding="utf-8")
    texts["roles"] = "\n".join(without_comments(block[2]) for block in BLOCK.finditer(roles))
    return texts, aliases


def as_sent(text):
    """Names filled in, two items, parameters as FreeTDS and Microsoft's drivers number them."""
    text = re.sub(r"\{table:(\w+)\}", r"[mail_\1]", text)
    text = text.replace("{table}", "[app].[mail]").replace("{catalog}", "[app].[tableq_queues]")
    text = re.sub(r"\{(limits|batches|members|schedules|quotas|starts)\}", r"[app].[tableq_\1]", text)
    text = text.replace("{schema}", "[app]").replace("{user}", "[worker]")
    text = ITEMS.sub(lambda m: ", ".join(re.sub(r":item\b", str(n), m[1]) for n in range(2)), text)
    pieces, number, at = [], 0, 0
    for found in re.finditer(rf"{LITERAL.pattern}|{PARAMETER.pattern}", text):
        pieces.append(text[at:found.start()])
        at = found.end()
        if found[1] is None:
            pieces.append(found[0])
        else:
            number += 1
            pieces.append(f"@P{number}")
    pieces.append(text[at:])
    out = "".join(pieces)
    return out if out.endswith(";") else out + ";"


def depths(text):
    """The depth of parentheses at each character."""
    out, depth = [], 0
    for c in text:
        depth -= c == ")"
        out.append(depth)
        depth += c == "("
    return out


def outside(text, pattern, start=0):
    """Matches of a pattern that stand in no parentheses."""
    level = depths(text)
    return [m for m in re.finditer(pattern, text) if m.start() >= start and level[m.start()] == 0]


def returned(text):
    """The names of the columns that a text returns; None when it returns none."""
    text = re.sub(r"INSERT INTO @\w+ \([^()]*\)\s+SELECT\b", "", without_literals(text))
    begins = outside(text, r"\bOUTPUT\b") or outside(text, r"\bSELECT\b")
    if not begins:
        return None
    start = begins[0].end()
    ends = outside(text, r"\b(FROM|SELECT|WHERE|OPTION)\b", start)
    columns = text[start:ends[0].start() if ends else len(text)]
    columns = re.sub(r"^\s*TOP\s*\([^()]*(\([^()]*\))?[^()]*\)", "", columns)
    commas = [m.start() for m in outside(columns, ",")]
    parts = [columns[a + 1:b] for a, b in zip([-1] + commas, commas + [len(columns)])]
    names = [re.search(r"\[?(\w+)\]?\s*$", part) for part in parts]
    return [name[1] if name else "" for name in names]


def read_contracts(root):
    """Name -> (shared, items, columns) as core/seam declares them."""
    seam = Path(root) / "core/seam"
    sources = "".join(p.read_text(encoding="utf-8") for p in sorted(seam.glob("*.hpp")))
    # The last two are public types: see members_of in fields.hpp.
    lists = {"nothing": [], "message_id": ["id"], "receipt": ["id", "fence"]}
    for more, names in re.findall(r"^  TABLEQ_(MORE_)?FIELDS\(([^)]*)\)", sources, re.M):
        name, *fields = re.findall(r"\w+", names)
        lists[name] = lists[fields.pop(0)] + fields if more else fields
    statements = re.findall(r"^  (?:query|change|record)\(([\w, ]+?)(?:,[\s\\]+\.[^)]*)?\)", sources, re.M)
    rows = [row.split(", ") for row in statements]
    # The contract of a statement on an application's table is made when that is opened.
    own = rows[:[row[:2] for row in rows].index(["table", "insert"])]
    return {f"{group}.{name}": tuple(lists[each] for each in types) for group, name, *types in own}

