"""Breaks a small sound tree in the ways that each rule is for: the rule must find them."""

import tempfile
import unittest
from pathlib import Path

from layouts import digest
from lint import RULES
from tree import Tree

HELLO = "// [readme]\nint main() {}\n// [/readme]\n"
FOLDERS = ("bench", "core", "docs", "drivers", "examples", "include", "schema", "tests", "tools")
HEAP = "CREATE TABLE {table} (y int);\n"
STEP = "-- name: 1.transaction\nALTER TABLE {table} ADD y int;\n"
SOUND = {
    "README.md": "# x\n\n```cpp\nint main() {}\n```\n\n## What is where\n\n"
    + "".join(f"- `{folder}/` is a folder.\n" for folder in FOLDERS),
    "include/tableq/unstable/dialect.hpp": "#pragma once\n\n#include <string>\n\n"
    "/// What.\nstruct capabilities {\n  bool schemas = true;  ///< x\n};\n"
    "/// A class. A value.\nclass value {\n public:\n  value(const value&) = default;\n  value(value&&);\n"
    "  /// Both.\n  int of(int);\n  int of(long x = {}) const;\n  bool is() { return f(); }  ///< Is.\n"
    "  friend bool operator==(const value&, const value&) = default;\n\n private:\n  void own();\n"
    "  int x_{f(1)};\n  std::function<void(int)> y_ = {};\n};\n",
    "include/tableq/handle.hpp": "#pragma once\n\n/// Owns a session.\n///\n/// @par Thread safety\n/// Safe.\n"
    "class TABLEQ_EXPORT handle {\n  class own {};\n  int x_;\n\n public:\n"
    "  class in_call;\n  using y = int;\n  friend class other;\n};\n"
    "/// Borrows it until the call returns.\ntemplate <class T>\nclass view {};\n"
    "/// Shares it: see `handle`.\nclass more : public handle {};\n"
    "/// Data.\nstruct data {\n  int a = 1;  ///< The first.\n  /// The second.\n  // NOLINTNEXTLINE(x)\n"
    "  std::size_t b = std::size_t{64} * 1024;\n  /// The third.\n  y (*c)(const data& self) = nullptr;\n"
    "  enum class kind { one };\n  friend bool operator==(const data&, const data&) = default;\n};\n",
    "core/seam/driver.hpp": "#pragma once\n\nclass driver {\n  virtual ~driver() = default;\n"
    "  virtual void begin() = 0;\n};\n",
    "core/queue/queue.cpp": '#include <tableq/unstable/dialect.hpp>\n\n#include "core/seam/driver.hpp"\n'
    "bool f(capabilities c) { return c.schemas; }\nvalue::value(value&&) = default;\nconst int big = 1'000'000;\n",
    "core/seam/statement.hpp": "#pragma once\n\n  change(a, take, x, y, z) \\\n  change(a, keep, x, y, z, .operation = w) \\\n"
    "  query(a, look, x, y, z) \\\n  query(claim, taken, x, y, z)\n",
    "core/seam/contract.cpp": 'x({.name = "open"}); database_operation("begin");\n',
    "docs/observing.md": "## Names of operations\n\n```text\n"
    "a                   a.take a.look\nof the database     open begin\n```\n",
    "docs/design.md": "1. `f` in `core/queue/queue.cpp`: works.\n",
    "core/rooms.txt": "seam\n:\n\nqueue  # x\n: seam\n\nschema\n: seam\n",
    "drivers/one/dialect.cpp": '#include <soci/soci.h>\nconst char* s = "PRAGMA x = 1";\n',
    "drivers/one/statements.sql": "-- name: a.b\nSELECT 1;\n",
    "drivers/one/more/part.cpp": "int x;\n" * 300,
    "drivers/two/dialect.cpp": '#include <libpq-fe.h>\nconst char* s = "SET x = 1";\n',
    "drivers/two/statements.sql": "-- name: a.b\nSELECT '--';\n",
    "drivers/transport/one.cpp": "// SELECT in a comment is none.\n",
    "schema/one/heap.sql": f"-- A table.\n\n{HEAP}",
    "schema/one/steps/2/heap.sql": STEP,
    "schema/two/heap.sql": HEAP,
    "schema/layouts.txt": f"# x\n\n1 one/heap.sql {64 * '0'}\n"
    + f"2 one/steps/2/heap.sql {digest(STEP)}\n"
    + "".join(f"2 {name}/heap.sql {digest(HEAP)}\n" for name in ("one", "two")),
    "core/schema/catalog.hpp": "#pragma once\nint catalog_layout = 1;\nint queue_layout = 2;\n",
    "CHANGELOG.md": "Layout of the catalogue: 1; of all other tables: 2.\n\n"
    "### Upgrade to layout 2\n\n```sh\ntableq migrate\n```\n",
    "tools/main.cpp": '#include <CLI/CLI.hpp>\n#include <tableq/unstable/dialect.hpp>\n#include "help.hpp"\n',
    "tools/help.hpp": "#pragma once\n",
    "bench/throughput.cpp": '#include "databases/databases.hpp"\n',
    "bench/databases/raw.cpp": '#include <sqlite3.h>\n',
    "examples/hello.cpp": HELLO,
    "examples/spool.cpp": HELLO.replace("readme", "drivers"),
    "tests/unit/queue_test.cpp": "#include <tableq/unstable/dialect.hpp>\nTEST(a_queue, keeps) {}\n"
    "TEST_P(a_queue_of_kind, keeps) {}\n",
    "tests/unit/CMakeLists.txt": "foreach(one first second)\n  add_test(NAME entry.${one} COMMAND x)\n"
    "  add_test(NAME whole COMMAND x)\n",
    "tests/promises.md": "| a | b |\n\n# Each promise and its test\n\n| promise | tests |\n| --- | --- |\n"
    "| x | `a_queue.keeps`, `a_queue_of_kind.keeps/one`, `a_queue*.keeps`, `a_queue.*` |\n"
    "| y | `entry.second`, `whole` |\n",
    "docs/drivers.md": "```cpp\nint main() {}\n```\n\n## Capabilities\n\n| a | set by | test |\n|---|---|---|\n"
    "| `schemas` | `x` | `a_queue.keeps`, `whole` |\n",
    "include/tableq.h": "TQ_API int tq_value_of(int);\nTQ_API void tq_end(void);\n",
    "docs/c.md": "| C++ | C |\n| --- | --- |\n| `value::of`, `is` | `tq_value_of` |\n\n`tq_end` ends it.\n",
    "tests/c/value_test.c": "int x = tq_value_of(1);\nvoid y(void) { tq_end(); }\n",
    "tests/consumer/application/main.cpp": "#include <tableq/unstable/dialect.hpp>\n#include <tableq/handle.hpp>\n",
}

CODE = "core/queue/queue.cpp"
CATCH = "{} {{\n  try {{\n    f([&] {{ g(); }});\n  }} catch (...) {{\n    {}\n  }}\n}}\n"
# Rule -> the files to write (appended to what is there; None removes), each a way to break it.
BREACHES = {
    "includes_go_one_way": [
        {"include/tableq/unstable/dialect.hpp": "#include <soci/soci.h>\n"},
        {CODE: '#include "drivers/text.hpp"\n'},
        {CODE: "#include <sqlite3.h>\n"},
        {"tools/main.cpp": '#include "core/seam/driver.hpp"\n'},
        {"drivers/one/dialect.cpp": '#include "tools/help.hpp"\n'},
        {"bench/throughput.cpp": "#include <sqlite3.h>\n"},
        {"bench/databases/raw.cpp": "#include <CLI/CLI.hpp>\n"},
        {"tests/conformance/a_test.cpp": '#include "core/queue/queue_state.hpp"\n'},
    ],
    "what_core_declares_is_included": [{"core/queue/other.cpp": "#include <string>\nint x = core::f();\n"}],
    "rooms_of_core_keep_their_order": [
        {"core/seam/driver.hpp": '#include "core/queue/queue.hpp"\n'},
        {"core/other/x.cpp": "\n"},
        {"core/x.cpp": "\n"},
        {"core/rooms.txt": "more\n: later\n\nlater\n:\n"},
    ],
    "no_modules_include_each_other": [
        {"core/seam/driver.hpp": '#include "core/queue/queue.hpp"\n'},
        {"core/queue/a.cpp": '#include "core/queue/b.hpp"\n',
         "core/queue/b.hpp": '#include "core/queue/a.hpp"\n'},
    ],
    "a_dialect_includes_no_other": [
        {"drivers/one/dialect.cpp": '#include "drivers/two/dialect.hpp"\n'}
    ],
    "no_database_is_named": [
        {"bench/throughput.cpp": 'if (backend == "sqlite") return 1;\n'},
        {CODE: "// Postgres does this\n"},
        {"tests/conformance/a_test.cpp": 'auto u = "sqlite://x";\n'},
    ],
    "drivers_have_the_same_files": [
        {"drivers/one/extra.cpp": "\n"},
        {"schema/two/fifo.sql": "\n"},
    ],
    "a_driver_is_small": [{"drivers/one/dialect.cpp": "int x;\n" * 200}],
    "the_seam_is_narrow": [
        {"core/seam/driver.hpp": "virtual void more() = 0;\n" * 11},
        {"core/seam/listener.hpp": "#pragma once\nvirtual void more() = 0;\n" * 5},
        {"drivers/transport.hpp": "#pragma once\nvirtual void more() = 0;\n" * 8},
        {"core/session/combiner.hpp": "#pragma once\nvirtual void more() = 0;\n" * 2},
        {"drivers/transport/other.hpp": "#pragma once\nvirtual bool one() const = 0;\n"},
    ],
    "the_seam_has_no_defaults": [
        {"core/seam/driver.hpp": "virtual const int* more() noexcept { return nullptr; }\n"},
        {"core/seam/driver.hpp": "virtual void more(int x = 0);\n"},
        {"drivers/transport/other.hpp": "#pragma once\nvirtual ~other() {}\n"},
    ],
    "every_capability_is_used": [{CODE: None}],
    "the_library_keeps_to_itself": [
        {CODE: 'auto x = getenv("X");\n'},
        {CODE: "auto x = std::chrono::system_clock::now();\n"},
    ],
    "effects_have_one_place": [
        {CODE: "void g() { queue.database().announce(watched, 1); }\n"},
        {CODE: "void g() { queue.limits().made_room(); }\n"},
        {CODE: "void g() { advance_groups(queue, tx, groups); }\n"},
        {"core/queue/limit_gates.cpp": "void g() { limits->room().forget(); }\n"},
    ],
    "tables_are_qualified": [
        {"drivers/one/statements.sql": "SELECT a FROM mail;\n"},
        {"drivers/one/statements.sql": "WITH a AS (SELECT 1)\nINSERT INTO mail\nSELECT x FROM a;\n"},
        {"drivers/one/statements.sql": "SELECT a\nFROM {table} AS q\nJOIN {table:x} AS o;\n"},
        {"schema/sqlite/heap.sql": "CREATE TABLE {table} (y int);\n"},
        {"schema/sqlite/heap.sql": "CREATE INDEX {table:x} ON {table} (y);\n"},
    ],
    "row_locks_fit_what_follows": [
        {"drivers/one/statements.sql": "-- name: a.b\nSELECT x FOR UPDATE)\nUPDATE {table}\n"},
        {"drivers/one/statements.sql": "-- name: a.b\nSELECT x FOR NO KEY UPDATE)\nDELETE FROM {table}\n"},
    ],
    "postgresql_calls_its_own_functions": [
        {"drivers/postgresql/statements.sql": "-- name: a.b\nSELECT unnest(CAST(:x AS bigint[]));\n"},
        {"schema/postgresql/heap.sql": "CREATE TABLE {table} (y text DEFAULT lower('X'));\n"},
    ],
    "states_are_decided_once": [
        {"drivers/one/statements.sql": "-- name: a.b\nSELECT CASE WHEN x THEN 4 ELSE 0 END;\n"},
        {"drivers/one/statements.sql": "-- name: a.b\nSELECT CASE WHEN x THEN 5 ELSE 0 END;\n"},
    ],
    "sql_lives_in_sql_files": [
        {CODE: 'auto s = "SELECT 1";\n'},
        {CODE: 'auto s = "delete from x";\n'},
        {CODE: 'auto s = "UPDATE x "\n  "SET y = 1";\n'},
        {"drivers/one/dialect.cpp": 'auto s = R"(\nINSERT INTO x)";\n'},
    ],
    "session_set_up_is_dialect_data": [
        {CODE: 'auto s = "BEGIN";\n'},
        {"drivers/transport/one.cpp": 'auto s = "PRAGMA busy_timeout = 1";\n'},
    ],
    "sql_comments_have_a_line_of_their_own": [
        {"schema/one/heap.sql": "SELECT 1;  -- why\n"},
        {"drivers/one/statements.sql": "/* why */\n"},
    ],
    "files_stay_short": [
        {CODE: "\n" * 600},
        {"include/tableq/unstable/dialect.hpp": "\n" * 250},
    ],
    "sources_are_ascii": [{CODE: "// caf\u00e9\n"}, {"schema/one/heap.sql": "-- \u2026\n"}],
    "headers_begin_with_pragma_once": [{"tools/late.hpp": "int x;\n#pragma once\n"}],
    "headers_use_no_namespace": [{"tools/help.hpp": "using namespace std;\n"}],
    "the_library_is_in_its_versioned_namespace": [
        {CODE: "namespace tableq {\n}\n"},
        {CODE: "namespace tableq::core {\n}\n"},
        {"drivers/one/dialect.cpp": "namespace tableq::drivers {\n}\n"},
    ],
    "nothing_is_left_undone": [{CODE: "// TODO: later\n"}],
    "suppressions_name_their_check": [{CODE: "int x;  // NOLINT\n"}],
    "swallowed_exceptions_say_why": [
        {CODE: "\ntry {\n}\ncatch (...) {\n\n}\n"},
        {CODE: "void f() try {\n\n} catch (const error& failure) {\n\n}\n"},
        {CODE: "void f() try {\n\n} catch (const error&) {\n\n}\n"},
    ],
    "soci_errors_are_not_quoted": [
        {CODE: "try {\n} catch (const soci::soci_error& e) {\n  if (x) {\n  }\n  f(e.what());\n}\n"}
    ],
    "everything_is_caught_for_a_reason": [
        {CODE: "void f() {\n  try {\n  } catch (...) {  // Why.\n  }\n}\n"},
        {"core/input/identifier.cpp": CATCH.format("bool good_queue_name()", "return false;")},
        {"core/worker/engine.cpp": CATCH.format("void other()", "throw x; f();")},
    ],
    "values_are_made_in_the_seam": [
        {CODE: "const std::array row{value(1), value(two)};\n"},
        {CODE: "const std::array row{core::value(name)};\n"},
    ],
    "tests_do_not_sleep": [{"tests/unit/queue_test.cpp": "std::this_thread::sleep_for(1s);\n"}],
    "unity_builds_change_no_overload": [
        {
            CODE: "namespace {\n[[noreturn]] void refuse(const std::string& sentence) {\n}\n\n"
            "}  // namespace\n",
            "core/other.cpp": "namespace {\n\nvoid refuse(const char* sentence) {\n}\n}  // namespace\n",
        }
    ],
    "every_source_is_in_a_target": [{"tests/unit/other_test.cpp": "\n"}, {"core/x.cpp": "\n"}],
    "the_readme_example_is_compiled": [
        {"README.md": None},
        {"examples/hello.cpp": None},
    ],
    "the_drivers_example_is_compiled": [
        {"docs/drivers.md": None},
        {"examples/spool.cpp": None},
    ],
    "the_readme_has_a_sentence_for_each_folder": [
        {"README.md": None},
        {"README.md": "- `gone/` is no folder.\n"},
        {"cmake/x.cmake": "\n"},
        {"scripts/x.sh": "\n", "README.md": "- `scripts/` has\n"},
    ],
    "the_changelog_tells_the_layouts": [
        {"CHANGELOG.md": None},
        {"core/schema/catalog.hpp": None, "CHANGELOG.md": None},
        {"core/schema/catalog.hpp": None},
    ],
    "a_changed_table_has_a_new_layout": [
        {"schema/one/heap.sql": "CREATE INDEX {table:x} ON {table} (y);\n"},
        {"schema/one/lifo.sql": HEAP},
        {"schema/layouts.txt": f"3 one/heap.sql {64 * '0'}\n"},
        {"schema/layouts.txt": "2 one/heap.sql\n"},
        {"core/schema/catalog.hpp": None},
    ],
    "a_step_never_changes": [
        {"schema/one/steps/2/heap.sql": "ALTER TABLE {table} ADD z int;\n"},
        {"schema/two/steps/2/heap.sql": STEP},
        {"schema/one/steps/3/heap.sql": STEP},
        {"schema/one/steps/2/x.y.sql": STEP},
        {"schema/layouts.txt": f"2 one/steps/2/fifo.sql {64 * '0'}\n"},
        {"schema/layouts.txt": f"1 two/heap.sql {64 * '0'}\n"},
    ],
    "the_consumer_includes_every_public_header": [{"include/tableq/more.hpp": "#pragma once\n"}],
    "every_operation_is_listed": [
        {"core/seam/statement.hpp": "  query(a, more, x, y, z)\n"},
        {"core/queue/queue.cpp": 'x({.name = "drop"});\n'},
        {"docs/observing.md": None},
    ],
    "every_public_function_is_documented": [
        {"include/tableq/unstable/dialect.hpp": "\nint bare(int x = 1);\n"},
        {"include/tableq/unstable/dialect.hpp": "\n/// Documented.\nint one();\n\nint one(int);\n"},
        {"include/tableq/unstable/dialect.hpp": "\n/// Documented.\nint one();\nint other();\n"},
        {"include/tableq/unstable/dialect.hpp": "\n/// Documented.\nint one();\nvoid one(int);\n"},
        {"include/tableq/unstable/dialect.hpp": "\n/// A class.\nclass x {\n public:\n  x();\n};\n"},
        {"include/tableq/unstable/dialect.hpp": "\n/// A class.\nclass x {\n int a{1};\n public:\n"
         "  [[nodiscard]] const std::vector<int>& size() const { return {}; }\n};\n"},
        {"include/tableq/unstable/dialect.hpp": "\n/// A struct.\nstruct x {\n  operator bool() const;\n};\n"},
        {"include/tableq/unstable/dialect.hpp": "\n/// A struct.\nstruct x {\n  template <class T>\n"
         "  auto operator<=>(const T&) const;\n};\n"},
    ],
    "every_public_member_is_documented": [
        {"include/tableq/unstable/dialect.hpp": "\n/// A struct.\nstruct x {\n  int bare = 1;\n};\n"},
        {"include/tableq/unstable/dialect.hpp": "\n/// A struct.\nstruct x {\n  int one{1};  ///< One.\n  int bare{2};\n};\n"},
        {"include/tableq/unstable/dialect.hpp": "\n/// A struct.\nstruct x {\n  /// Both.\n  int one;\n  int bare;\n};\n"},
        {"include/tableq/unstable/dialect.hpp": "\n/// A struct.\nstruct x {\n  // No doc comment.\n"
         "  std::function<bool(const y&)> bare = {};\n};\n"},
        {"include/tableq/unstable/dialect.hpp": "\n/// A struct.\nstruct x {\n  y (*bare)(const x& self) = nullptr;\n};\n"},
        {"include/tableq/unstable/dialect.hpp": "\n/// A class. A value.\nclass x {\n public:\n  struct y {\n"
         "    std::vector<int> bare = {1, 2};\n  };\n};\n"},
    ],
    "every_public_class_says_what_it_owns": [
        {"include/tableq/unstable/dialect.hpp": "\n/// A class.\nclass x {\n};\n"},
        {"include/tableq/unstable/dialect.hpp": "\nclass TABLEQ_EXPORT x {\n};\n"},
        {"include/tableq/unstable/dialect.hpp": "\n/// Owns a session.\nclass x {\n};\n"},
        {"include/tableq/unstable/dialect.hpp": "\n/// Borrows a session.\nclass x {\n};\n"},
        {"include/tableq/unstable/dialect.hpp": "\n/// Shares its sessions: see `z`.\nclass x : public y {\n};\n"},
        {"include/tableq/unstable/dialect.hpp": "\n/// A struct.\nstruct x {\n  class y {\n  };\n};\n"},
        {"include/tableq/unstable/dialect.hpp": "\n/// A class.\ntemplate <class T>\nclass x : public T {\n};\n"},
    ],
    "every_promise_names_tests_that_exist": [
        {"tests/promises.md": "| z | `a_queue.loses` |\n"},
        {"tests/promises.md": "| z | `a_stack.*` |\n"},
        {"tests/promises.md": "| z | `a_queue_of_kind.loses/one` |\n"},
        {"tests/promises.md": "| z | `entry.third` |\n"},
        {"tests/promises.md": "| z | |\n"},
        {"tests/promises.md": None},
    ],
    "every_capability_names_its_test": [
        {"include/tableq/unstable/dialect.hpp": None},
        {"docs/drivers.md": None},
        {"docs/drivers.md": "| `other` | x | `a_queue.keeps` |\n"},
        {"docs/drivers.md": "| `schemas` | x | `a_queue.loses` |\n"},
    ],
    "every_script_says_its_purpose": [
        {"scripts/x.sh": "#!/bin/bash\nset -e\n"},
        {"scripts/x.sh": "#!/bin/bash\n# Half a\n# sentence.\n"},
    ],
    "the_journeys_are_straight": [
        {"docs/design.md": "2. `begin` in `core/seam/driver.hpp`: x\n3. `f` in `core/queue/queue.cpp`: x\n"},
        {"docs/design.md": "2. `g` in `core/seam/driver.hpp`: x\n"},
    ],
    "the_journeys_name_what_exists": [
        {"docs/design.md": "`g` in `core/queue/queue.cpp`\n"},
        {"docs/design.md": "`f` in `core/queue/gone.cpp`\n"},
        {"docs/design.md": None},
    ],
    "every_function_has_one_in_c": [
        {"include/tableq/unstable/dialect.hpp": "\n/// Does.\nint does(int);\n"},
        {"include/tableq.h": "TQ_API int tq_more(int);\n"},
        {"docs/c.md": "`tq_gone`\n"},
        {"docs/c.md": "| `value::gone` | `tq_value_of` |\n"},
        {"docs/c.md": "| `value::is` | not there |\n"},
    ],
    "every_option_has_its_key": [
        {"include/tableq/unstable/dialect.hpp": "\n/// A struct.\nstruct take_options {\n  int wait = 1;  ///< x\n};\n"},
        {"include/tableq/unstable/dialect.hpp": "\n/// A struct.\nstruct finding {\n  int level = 1;  ///< x\n};\n"},
    ],
    "every_c_function_is_tested": [{"include/tableq.h": "TQ_API int tq_more(int);\n"}],
    "every_public_type_is_documented": [
        {"include/tableq/unstable/dialect.hpp": "\nclass TABLEQ_EXPORT x : public y {\n};\n"},
        {"include/tableq/unstable/dialect.hpp": "\nenum class x { a };\n"},
    ],
}
REPLACED = {
    "docs/observing.md": "## Names of operations\n\n```text\n"
    "a                   a.take a.look a.keep\nof the database     open begin\n```\n",
    "docs/design.md": "Nothing.\n", "README.md": "```cpp\nint other;\n```\n",
    "examples/hello.cpp": "int main() {}\n", CODE: "\n", "tests/promises.md": "# x\n",
    "docs/drivers.md": "```cpp\nint other;\n```\n", "examples/spool.cpp": "int main() {}\n",
    "include/tableq/unstable/dialect.hpp": "struct capabilities {\n  bool schemas = true;\n"
    "  bool more = true;\n};\n",
    "CHANGELOG.md": "Layout of the catalogue and of all tables: 3.\n",
    "core/schema/catalog.hpp": "int catalog_layout = 3;\nint queue_layout = 3;\n",
}


def findings(rule, breach=None):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        files = dict(SOUND)
        for name, text in (breach or {}).items():
            files[name] = REPLACED[name] if text is None else files.get(name, "") + text
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        sources = root / "sources.txt"
        sources.write_text("\n".join(str(root / n) for n in SOUND if n.endswith(".cpp")))
        return list(RULES[rule](Tree(root, sources)))


class Rules(unittest.TestCase):
    def test_every_rule_has_a_breach(self):
        self.assertEqual(set(RULES), set(BREACHES))

    def test_a_sound_tree_passes(self):
        for rule in RULES:
            with self.subTest(rule=rule):
                self.assertEqual(findings(rule), [])

    def test_every_breach_is_found(self):
        for rule, breaches in BREACHES.items():
            for breach in breaches:
                with self.subTest(rule=rule, breach=breach):
                    self.assertNotEqual(findings(rule, breach), [])


if __name__ == "__main__":
    unittest.main()
