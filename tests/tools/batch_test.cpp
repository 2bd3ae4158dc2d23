#include <nlohmann/json.hpp>

#include "tools/tool_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using nlohmann::json;

class tool_batch : public tool_test {
 protected:
  json shown(const std::string& id) { return json::parse(done({"batch", "get", id})); }
  std::string begin() {
    done({"create", "claim", "jobs", "--batches"});
    done({"create", "fifo", "news"});
    return lines_of(done({"batch", "begin", "--then", "news", "--payload", "over"})).at(0);
  }
};
TABLEQ_ON_BACKENDS(tool_batch, distinct_backends);

TEST_P(tool_batch, begins_fills_seals_and_shows_a_batch) {
  const std::string id = begin();
  done({"enqueue", "jobs", "--batch", id, "part 1", "part 2"});
  EXPECT_EQ(shown(id).at("state"), "open");
  done({"batch", "seal", id});
  EXPECT_EQ(shown(id).at("state"), "sealed");
  EXPECT_EQ(shown(id).at("total"), 2);
  EXPECT_EQ(done({"work", "jobs", "--until-empty", "--", "true"}), "");
  EXPECT_EQ(shown(id).at("state"), "ended");
  EXPECT_EQ(shown(id).at("completed"), 2);
  EXPECT_EQ(done({"dequeue", "news"}), "over\n");
  const auto lines = lines_of(done({"batch", "list"}));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_TRUE(contains(lines[1], "ended"));
  EXPECT_TRUE(shown(id).at("name").is_null());
  const std::string named = lines_of(done({"batch", "begin", "--name", "import 7"})).at(0);
  EXPECT_EQ(shown(named).at("name"), "import 7");
  EXPECT_TRUE(contains(done({"batch", "list"}), "import 7"));
  EXPECT_TRUE(contains(done({"list"}), "batches"));
}

TEST_P(tool_batch, cancels_a_batch_and_refuses_what_is_over) {
  const std::string id = begin();
  done({"enqueue", "jobs", "--batch", id, "part 1"});
  done({"batch", "cancel", id});
  EXPECT_EQ(shown(id).at("state"), "cancelled");
  EXPECT_EQ(shown(id).at("removed"), 1);
  EXPECT_EQ(run({"batch", "cancel", id}).status, 1);
  EXPECT_EQ(run({"batch", "get", "98765"}).status, 1);
  EXPECT_EQ(run({"enqueue", "jobs", "--batch", id, "late"}).status, 2);
  TABLEQ_EXPECT_REFUSAL(2, run({"enqueue", "news", "--batch", id, "no"}));
}

TEST_P(tool_batch, prints_the_batch_as_json_where_asked) {
  begin();
  const auto told = [&](const words& call) {
    return json::parse(done(joined(joined({"batch"}, call), {"--json"})));
  };
  const json begun = told({"begin", "--name", "import 7"});
  const std::string id = begun.at("batch").dump();
  EXPECT_EQ(begun, shown(id));
  done({"enqueue", "jobs", "--batch", id, "part 1"});
  EXPECT_EQ(told({"seal", id}).at("state"), "sealed");
  const json cancelled = told({"cancel", id});
  EXPECT_EQ(cancelled.at("state"), "cancelled");
  EXPECT_EQ(cancelled, shown(id));
  EXPECT_EQ(run({"batch", "seal", "98765", "--json"}).status, 1);
}

TEST_P(tool_batch, a_batch_within_another_is_a_member_of_it) {
  const std::string outer = begin();
  const std::string inner = lines_of(done({"batch", "begin", "--parent", outer})).at(0);
  done({"batch", "seal", outer});
  EXPECT_EQ(shown(outer).at("total"), 1);
  EXPECT_EQ(shown(outer).at("state"), "sealed");
  done({"batch", "seal", inner});
  EXPECT_EQ(shown(outer).at("state"), "ended");
  TABLEQ_EXPECT_REFUSAL(2, run({"batch", "begin", "--parent", "0"}));
  TABLEQ_EXPECT_REFUSAL(2, run({"batch", "begin", "--then", ""}));
}

TEST_P(tool_batch, is_shown_with_a_name_of_plain_sql_that_is_no_text) {
  const std::string id = begin();
  here().sql("UPDATE tableq_batches SET name = CAST(x'ff41' AS TEXT)");
  EXPECT_EQ(shown(id).at("state"), "open");
  EXPECT_EQ(lines_of(done({"batch", "list"})).size(), 2U);
}

}  // namespace
