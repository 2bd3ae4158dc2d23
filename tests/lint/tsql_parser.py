#!/usr/bin/env python3
"""Holds the texts of SQL Server's dialect against Microsoft's own parser and its model of a database.

    tsql_parser.py ROOT [TEXTS]     exit status 1 with findings, one a line; 77 without the parser

TEXTS is a program that prints those on tables of applications. The parser is that of version 2016. The model resolves the names of tables and columns, but for those of the server's
own objects, and knows neither types nor plans. scripts/microsoft_parser.sh puts both into a folder, which
TABLEQ_TEST_MICROSOFT_PARSER names.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from tsql_texts import as_sent, read_texts, without_comments

# A queue's table is of the kind that the statement's name begins with, else a claim queue whose groups take turns.
TABLES = {"heap": ("heap",), "fifo": ("fifo",), "lifo": ("lifo",), "pending": ("pending",)}
OTHERWISE = ("claim", "turns")
# The model has none of the server's own objects.
OF_THE_SERVER = re.compile(r"\[sys\]\.|\[sp_\w+\]")

BROKEN = "WITH c AS (SELECT TOP (1) id FROM [app].[mail] DELETE FROM c OUTPUT deleted.id"
MISSPELT = "UPDATE [app].[mail] SET stat = 1 WHERE id = @P1"


class Parser:
    def __init__(self):
        from System.IO import StringReader
        from Microsoft.SqlServer.Dac.Model import SqlServerVersion, TSqlModel, TSqlModelOptions
        from Microsoft.SqlServer.TransactSql.ScriptDom import TSql130Parser
        self.reader = StringReader
        self.parser = TSql130Parser(True)
        self.model = lambda: TSqlModel(SqlServerVersion.Sql130, TSqlModelOptions())

    def parse(self, text):
        """@return the tree, and why there is none."""
        tree, errors = self.parser.Parse(self.reader(text), None)
        return tree, [f"line {each.Line}: {each.Message}" for each in errors]

    def parts(self, text):
        """Each CREATE TABLE, CREATE INDEX and ALTER TABLE ADD of a text, also below an IF, as (kind, text)."""
        tree, errors = self.parse(text)
        assert not errors, errors
        rest = [each for batch in tree.Batches for each in batch.Statements]
        while rest:
            one = rest.pop(0)
            kind = one.GetType().Name
            if kind == "IfStatement":
                rest.insert(0, one.ThenStatement)
            elif kind == "BeginEndBlockStatement":
                rest[:0] = list(one.StatementList.Statements)
            elif kind in ("CreateTableStatement", "CreateIndexStatement"):
                yield kind, text[one.StartOffset:one.StartOffset + one.FragmentLength]
            elif kind == "AlterTableAddTableElementStatement":
                added = one.Definition
                yield kind, text[added.StartOffset:added.StartOffset + added.FragmentLength]

    def unresolved(self, schema, texts):
        """Why texts name what the tables of the schema have not."""
        model = self.model()
        parts = [each for text in schema for each in self.parts(text)]
        columns = "".join(f"{text}, " for kind, text in parts if kind.startswith("Alter"))
        model.AddObjects("CREATE SCHEMA [app]")
        for kind, text in parts:
            if not kind.startswith("Alter"):
                model.AddObjects(text.replace("CREATE TABLE [app].[mail] (", f"CREATE TABLE [app].[mail] ({columns}"))
        for name, text in texts.items():
            parameters = ", ".join(f"{each} nvarchar(4000)" for each in sorted(set(re.findall(r"@P\d+", text))))
            model.AddObjects(f"CREATE PROCEDURE [app].[{name}] {parameters} AS\n{text}")
        found = [str(each.Message) for each in model.Validate()]
        return [each for each in found if not OF_THE_SERVER.search(each)]


def with_libraries(folder):
    """Runs this program anew where the runtime finds ICU, whose versions of today it does not look for, and OpenSSL."""
    icu = sorted(Path("/usr/lib").glob("*/libicuuc.so.*.*"))
    if not icu:
        sys.exit("tsql_parser.py: libicu is missing: scripts/install_dependencies.sh microsoft")
    version = icu[-1].name.removeprefix("libicuuc.so.")
    os.environ.update(CLR_ICU_VERSION_OVERRIDE=version, LD_LIBRARY_PATH=str(folder / "openssl"))
    os.execv(sys.executable, [sys.executable, "-B", *sys.argv])


def load(folder):
    """Starts the runtime in this process, and loads the libraries."""
    settings = folder / "runtime.json"
    sys.path[:0] = [str(folder / "python"), str(folder / "tools")]
    from clr_loader import get_coreclr
    from pythonnet import set_runtime
    set_runtime(get_coreclr(runtime_config=str(settings), dotnet_root=str(folder / "dotnet")))
    import clr
    for name in ("TransactSql.ScriptDom", "Dac", "Dac.Extensions"):
        clr.AddReference(str(folder / f"tools/Microsoft.SqlServer.{name}.dll"))


def statements(root):
    """Name -> text, with each clock, order and set of columns."""
    out = {}
    seam = (root / "core/seam/statement.hpp").read_text(encoding="utf-8")
    with_fewer_columns = ["claim." + name for name in re.findall(r"TABLEQ_DETAILS\(query, (\w+)", seam)]
    for more in ({}, {"given_clock": True}, {"turns": True}, {"columns": "outline"}, {"columns": "seen"}):
        ending = "".join(f" {name} {value}" for name, value in more.items())
        for name, text in read_texts(root, **more)[0].items():
            if as_sent(text) not in out.values() and ("columns" not in more or name in with_fewer_columns):
                out[name + ending] = as_sent(text)
    for path in sorted((root / "schema/sqlserver/steps").rglob("*.sql")):
        out[f"schema.step {path.stem}"] = as_sent(without_comments(path.read_text(encoding="utf-8")))
    return out


def main():
    folder = os.environ.get("TABLEQ_TEST_MICROSOFT_PARSER")
    if not folder:
        print("left out: scripts/microsoft_parser.sh gets Microsoft's parser")
        return 77
    if "CLR_ICU_VERSION_OVERRIDE" not in os.environ:
        with_libraries(Path(folder))
    root = Path(sys.argv[1])
    load(Path(folder))
    parser = Parser()
    texts = statements(root)
    findings = [f"{name}: {why}" for name, text in texts.items() for why in parser.parse(text)[1]]
    if not parser.parse(BROKEN)[1]:
        findings.append("self-test: the parser takes a text although a parenthesis is open")
    given = read_texts(root)[0]
    models = {}  # the texts of a schema -> the statements on it
    for name, text in texts.items():
        kind = name.split(".")[0]
        if kind not in ("schema", "roles", "setup"):
            schema = tuple(as_sent(given[f"schema.{each}"]) for each in ("catalog", *TABLES.get(kind, OTHERWISE)))
            models.setdefault(schema, {})[name] = text
    for program in sys.argv[2:]:
        printed = subprocess.run([program], stdout=subprocess.PIPE, check=True, env={}).stdout.decode()
        for one in map(json.loads, printed.splitlines()):
            texts[one["name"]] = text = as_sent(one["text"])
            findings += [f"{one['name']}: {why}" for why in parser.parse(text)[1]]
            models.setdefault((one["table"],), {})[one["name"]] = text
    for schema, of_these in models.items():
        findings += parser.unresolved(schema, of_these)
        if not parser.unresolved(schema, {"misspelt": MISSPELT}):
            findings.append("self-test: the model takes a column that is misspelt")
    for each in findings:
        print(each)
    print(f"{len(texts)} texts")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
