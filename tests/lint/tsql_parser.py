#!/usr/bin/env python3
"""Holds the texts of SQL Server's dialect against Microsoft's own parser and binder.

    tsql_parser.py ROOT [TEXTS]     exit status 1 with findings, one a line; 77 without the parser

TEXTS is a program that prints those on tables of applications. The parser is that of version 2016. The binder, Management
Studio's, finds names of tables, columns, functions and units of time that are not there, and wrong numbers of arguments.
It knows few types and no plans. scripts/microsoft_parser.sh puts both into a folder, which TABLEQ_TEST_MICROSOFT_PARSER
names.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from tsql_texts import as_sent, read_texts, without_comments

# A queue's table is of the kind that the statement's name begins with, else a claim queue whose groups take turns.
TABLES = {"heap": ["heap"], "fifo": ["fifo"], "lifo": ["lifo"], "pending": ["pending"]}
OTHERWISE = ["claim", "turns"]

# The server's own views, with columns as Microsoft documents them for version 2016.
OBJECT = "name object_id principal_id schema_id parent_object_id type type_desc create_date modify_date is_ms_shipped"
COLUMN = ("object_id name column_id system_type_id user_type_id max_length precision scale collation_name is_nullable "
          "is_identity is_computed default_object_id generated_always_type")
VIEWS = {
    "allocation_units": "allocation_unit_id type container_id total_pages used_pages data_pages",
    "columns": COLUMN,
    "databases": "name database_id create_date compatibility_level collation_name snapshot_isolation_state "
                 "is_read_committed_snapshot_on delayed_durability",
    "dm_exec_sessions": "session_id login_time program_name transaction_isolation_level lock_timeout",
    "identity_columns": f"{COLUMN} seed_value increment_value last_value",
    "index_columns": "object_id index_id index_column_id column_id key_ordinal is_descending_key is_included_column",
    "indexes": "object_id name index_id type is_unique is_primary_key is_unique_constraint is_disabled is_hypothetical "
               "allow_row_locks allow_page_locks has_filter filter_definition",
    "objects": OBJECT,
    "partitions": "partition_id object_id index_id partition_number hobt_id rows",
    "schemas": "name schema_id principal_id",
    "security_policies": f"{OBJECT} is_enabled",
    "security_predicates": "object_id security_predicate_id target_object_id predicate_definition predicate_type operation",
    "tables": f"{OBJECT} lock_escalation lock_escalation_desc is_replicated is_tracked_by_cdc is_memory_optimized "
              "temporal_type",
    "triggers": "name object_id parent_class parent_id type is_ms_shipped is_disabled is_instead_of_trigger",
    "types": "name system_type_id user_type_id schema_id max_length precision scale collation_name is_user_defined",
}
# The binder has no procedures of the server.
PROCEDURE = re.compile(r"stored procedure '(sp_getapplock|sp_releaseapplock|sp_executesql)'")

# What must be found in texts on claim queues, or the check is none.
BREACHES = (
    "WITH c AS (SELECT TOP (1) id FROM [app].[mail] DELETE FROM c OUTPUT deleted.id",
    "UPDATE [app].[mail] SET stat = 1 WHERE id = @P1",
    "SELECT DATEDIFF_BIG(millisecond, SYSUTCDATETIME()) AS now",
    "SELECT c.scal FROM sys.columns AS c",
    "SELECT id FROM [app].[mail] ORDER BY id LIMIT 1",
    "DELETE FROM [app].[mail] RETURNING id",
    "SELECT key FROM [app].[mail]",
    "DELETE TOP 1 FROM [app].[mail]",
    "SELECT id FROM [app].[mail] WHERE TRUE",
    "SELECT N'a' || N'b' AS text",
)


def load(folder):
    """Starts the runtime in this process, where it finds OpenSSL and, as it looks for older versions alone, ICU."""
    if "CLR_ICU_VERSION_OVERRIDE" not in os.environ:
        icu = sorted(Path("/usr/lib").glob("*/libicuuc.so.*.*"))
        if not icu:
            sys.exit("tsql_parser.py: libicu is missing: scripts/install_dependencies.sh microsoft")
        version = icu[-1].name.removeprefix("libicuuc.so.")
        os.environ.update(CLR_ICU_VERSION_OVERRIDE=version, LD_LIBRARY_PATH=str(folder / "openssl"))
        os.execv(folder / "python3", ["python3", "-B", *sys.argv])
    sys.path[:0] = [str(folder / "python"), str(folder / "tools")]
    from clr_loader import get_coreclr
    from pythonnet import set_runtime
    set_runtime(get_coreclr(runtime_config=str(folder / "runtime.json"), dotnet_root=str(folder / "dotnet")))
    import clr
    for name in ("TransactSql.ScriptDom", "SqlParser"):
        clr.AddReference(str(folder / f"tools/Microsoft.SqlServer.{name}.dll"))


class Server:
    """A server without data, which has databases of version 2016."""

    def __init__(self):
        from Microsoft.SqlServer.Management.SqlParser.Binder import BinderProvider
        from Microsoft.SqlServer.Management.SqlParser.Metadata import CollationInfo
        from Microsoft.SqlServer.Management.SqlParser.MetadataProvider import MetadataFactory, MetadataProviderBase
        from Microsoft.SqlServer.TransactSql.ScriptDom import TSql130Parser
        self.parser = TSql130Parser(True)
        self.make = MetadataFactory()
        self.collation = CollationInfo.Default
        self.server = server = self.make.Server.Create("server", self.collation)

        class Provider(MetadataProviderBase):
            __namespace__ = "Tsql"

            def get_Server(self):
                return server

            def get_BeforeBindHandler(self):
                return None

            def get_AfterBindHandler(self):
                return None

        self.provider = Provider()  # The binder does not keep it.
        self.binder = BinderProvider.CreateBinder(self.provider)
        self.make_database("master", ())

    def make_database(self, name, schemas):
        from Microsoft.SqlServer.Management.SqlParser.Common import DatabaseCompatibilityLevel
        database = self.make.Database.Create(self.server, name, self.collation)
        database.CompatibilityLevel = DatabaseCompatibilityLevel.Version130
        database.DefaultSchemaName = "app"
        for each in schemas:
            database.Schemas.Add(self.make.Schema.Create(database, each))
        self.server.Databases.Add(database)

    def syntax(self, text):
        from System.IO import StringReader
        return [f"line {each.Line}: {each.Message}" for each in self.parser.Parse(StringReader(text), None)[1]]

    def unbound(self, database, text):
        """The names in a script that are not in the database, nor in the script."""
        from Microsoft.SqlServer.Management.SqlParser.Binder import BindMode
        from Microsoft.SqlServer.Management.SqlParser.Parser import ParseOptions, Parser
        from System.Collections.Generic import List
        parsed = Parser.Parse(text, ParseOptions("GO", True))
        all_parsed = List[type(parsed)]()
        all_parsed.Add(parsed)
        self.binder.Bind(all_parsed, database, BindMode.Batch)
        return [str(each.Message).strip() for each in parsed.Errors if not PROCEDURE.search(each.Message)]


class Tables:
    """A database with the tables of some DDL texts."""

    def __init__(self, server, name, ddl):
        self.server, self.name = server, name
        server.make_database(name, ("app", "dbo", "sys"))
        views = [f"CREATE TABLE sys.{view} ({', '.join(f'[{each}] int' for each in columns.split())})"
                 for view, columns in VIEWS.items()]
        # The binder adds a column to no table.
        added = "".join(f"{each}, " for text in ddl for each in re.findall(r"ALTER TABLE \[app\]\S+ ADD ([^;]*);", text))
        whole = [text.replace("CREATE TABLE [app].[mail] (", f"CREATE TABLE [app].[mail] ({added}") for text in ddl]
        self.script = "\nGO\n".join([*views, *whole, ""])

    def findings(self, text):
        parameters = "".join(f"DECLARE {each} nvarchar(4000);\n" for each in sorted(set(re.findall(r"@P\d+", text))))
        return self.server.syntax(text) or self.server.unbound(self.name, f"{self.script}GO\n{parameters}{text}")


def statements(root):
    """(name, text, DDL of its tables) with each clock, order and set of columns."""
    seam = (root / "core/seam/statement.hpp").read_text(encoding="utf-8")
    with_fewer_columns = ["claim." + name for name in re.findall(r"TABLEQ_DETAILS\(query, (\w+)", seam)]
    schemas, seen = read_texts(root)[0], set()
    for more in ({}, {"given_clock": True}, {"turns": True}, {"columns": "outline"}, {"columns": "seen"}):
        ending = "".join(f" {name} {value}" for name, value in more.items())
        for name, text in read_texts(root, **more)[0].items():
            if as_sent(text) in seen or ("columns" in more and name not in with_fewer_columns):
                continue
            seen.add(as_sent(text))
            kind = name.split(".")[0]
            tables = [] if kind in ("schema", "roles", "setup") else ["catalog", *TABLES.get(kind, OTHERWISE)]
            yield name + ending, as_sent(text), [as_sent(schemas[f"schema.{each}"]) for each in tables]
    for path in sorted((root / "schema/sqlserver/steps").rglob("*.sql")):
        yield f"step {path.stem}", as_sent(without_comments(path.read_text(encoding="utf-8"))), []


def of_the_documentation(root):
    """The statements of docs/sql.md on SQL Server, for people to copy."""
    schemas = read_texts(root)[0]
    tables = [as_sent(schemas[f"schema.{kind}"]).replace("mail", name)
              for kind, name in (("catalog", ""), ("heap", "mail"), ("pending", "later"), ("claim", "jobs"))]
    page = (root / "docs/sql.md").read_text(encoding="utf-8")
    yield "docs/sql.md", re.search(r"## SQL Server\n\n```sql\n(.*?)```", page, re.S)[1], tables


def on_tables_of_applications(program):
    printed = subprocess.run([program], stdout=subprocess.PIPE, check=True, env={}).stdout.decode()
    for one in map(json.loads, printed.splitlines()):
        yield one["name"], as_sent(one["text"]), [one["table"]]


def main():
    folder = os.environ.get("TABLEQ_TEST_MICROSOFT_PARSER")
    if not folder:
        print("left out: scripts/microsoft_parser.sh gets Microsoft's parser")
        return 77
    load(Path(folder))
    server = Server()
    root = Path(sys.argv[1])
    texts = [*statements(root), *of_the_documentation(root)]
    for program in sys.argv[2:]:
        texts += on_tables_of_applications(program)
    databases = {}
    for _, _, ddl in texts:
        if ddl and tuple(ddl) not in databases:
            databases[tuple(ddl)] = Tables(server, f"database{len(databases)}", ddl)
    out = [f"{name}: {why}" for name, text, ddl in texts
           for why in (databases[tuple(ddl)].findings(text) if ddl else server.syntax(text))]
    claim = next(databases[tuple(ddl)] for name, _, ddl in texts if name.startswith("claim."))
    out += [f"self-test: nothing is found in {each}" for each in BREACHES if not claim.findings(each)]
    for each in out:
        print(each)
    print(f"{len(texts)} texts")
    return 1 if out else 0


if __name__ == "__main__":
    sys.exit(main())
