#include "core/seam/contract.hpp"
#include "core/input/identifier.hpp"
#include "core/seam/driver.hpp"
#include "drivers/own_sessions.hpp"
#include "support/fixture.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace {

using tableq::core::contract;
using tableq::core::field;
using tableq::core::statement;
using tableq::core::value;
using tableq::core::value_type;

constexpr std::string_view queue_of_every_kind[] = {"heap", "fifo", "lifo", "pending", "claim"};

/// A value of the field's type that every statement accepts.
value sample(const field& of) {
  if (of.name == "fence" || of.name == "claimed_at" || of.name == "now" || of.name == "due_at") {
    return {};
  }
  if (of.name == "state") return value(std::int64_t{4});
  if (of.name == "rate") return value(std::int64_t{1'000'000});
  if (of.type == value_type::integer) return value(std::int64_t{1});
  if (of.name == "group") return {};
  if (of.name == "policy" || of.name == "retry") return value(std::string_view(R"({"after":[1]})"));
  if (of.name == "errors") return value(std::string_view("[]"));
  if (of.name == "queue") return value(std::string_view("fifo"));
  if (of.name == "headers") return value(std::string_view("{}"));
  if (of.name == "highs" || of.name == "lows" || of.name == "floors") {
    return value(std::string_view("1"));
  }
  return value(std::string_view("x"));
}

std::vector<value> samples(std::span<const field> fields) {
  std::vector<value> out;
  for (const field& one : fields) out.push_back(sample(one));
  return out;
}

/// A rule has a cron text or an interval, not both.
std::vector<value> shared_of(const contract& of) {
  std::vector<value> out = samples(of.shared);
  const std::size_t every = tableq::core::place_among(of.shared, "every");
  if (every < out.size()) out[every] = value();
  return out;
}

/// A message without a group uses no start of one.
std::vector<value> items_of(const contract& of) {
  std::vector<value> out = samples(of.items);
  if (of.id == statement::group_start) {
    out[tableq::core::place_among(of.items, "group")] = value(std::string_view("x"));
  }
  return out;
}

class statement_contract : public tableq_test::on_each_backend {
 protected:
  void SetUp() override {
    on_each_backend::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    options_ = here_options();
    tableq::database db = tableq::database::open(here().url(), options_);
    (void)db.heap("heap");
    (void)db.fifo("fifo");
    (void)db.lifo("lifo");
    (void)db.pending("pending");
    (void)db.claim("claim");
    (void)db.claim("turns", {.groups = {.by_turns = true}});
    driver_ = tableq::core::make_driver(here().url());
  }

  [[nodiscard]] static tableq::open_options here_options() { return {.table_prefix = "contract_"}; }

  /// The queue whose table a statement uses.
  [[nodiscard]] tableq::core::table_names names_of(const contract& of) const {
    for (const std::string_view kind : queue_of_every_kind) {
      if (of.name.starts_with(std::string(kind) + ".")) {
        return tableq::core::names_for(options_, kind);
      }
    }
    const bool of_batches = of.name.starts_with("batch.");
    return tableq::core::names_for(options_, of_batches ? "claim" : "fifo");
  }

  void expect_kept(const contract& of, const tableq::core::table_names& names) {
    SCOPED_TRACE(std::string(of.name));
    const auto session = driver_->connect();
    session->begin();
    if (of.name.starts_with("claim.take") || of.id == statement::claim_look ||
        of.name.ends_with(".dequeue") || of.name.ends_with(".peek")) {
      // A row to return, which shows the types of the columns.
      const std::string wanted = std::string(of.name.substr(0, of.name.find('.'))) + ".enqueue";
      const auto all = tableq::core::contracts();
      const contract& add = *std::ranges::find(all, wanted, &contract::name);
      std::vector<value> item = samples(add.items);
      for (std::size_t i = 0; i < item.size(); ++i) {
        if (add.items[i].name == "delay") item[i] = value(std::int64_t{0});
      }
      session->execute(add, names, samples(add.shared), item);
    }
    if (of.name.starts_with("limits.")) {
      const auto& set = tableq::core::contract_of(statement::limits_set);
      session->execute(set, names_of(set), samples(set.shared), {});
    }
    if (of.name.starts_with("schedules.") && of.id != statement::schedules_insert) {
      const auto& add = tableq::core::contract_of(statement::schedules_insert);
      session->execute(add, names_of(add), shared_of(add), {});
    }
    const auto rows = session->execute(of, names, shared_of(of), items_of(of));
    EXPECT_EQ(rows.width(), of.columns.size() + (of.items.empty() ? 0 : 1));
    const std::size_t first = of.items.empty() ? 0 : 1;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      for (std::size_t i = 0; i < of.columns.size(); ++i) {
        const auto& cell = rows.at(row, first + i);
        if (std::holds_alternative<std::monostate>(cell)) continue;
        EXPECT_EQ(std::holds_alternative<std::int64_t>(cell),
                  of.columns[i].type == value_type::integer)
            << of.columns[i].name;
      }
    }
    session->rollback();
    EXPECT_TRUE(session->usable()) << "nothing may stay open";
  }

  /// The statements of the driver alone.
  [[nodiscard]] std::span<const contract> own_contracts() const {
    const auto* const own = tableq::find_dialect(driver_->name()).own;
    return own == nullptr ? std::span<const contract>() : own->contracts();
  }

  tableq::open_options options_;
  std::unique_ptr<tableq::core::driver> driver_;
};

TEST_P(statement_contract, is_kept_by_every_text) {
  if (!GetParam()->can().shared) GTEST_SKIP() << "needs a second session in the same place";
  for (const contract& of : tableq::core::contracts()) {
    if (of.needed_with(driver_->capabilities())) expect_kept(of, names_of(of));
  }
  for (const contract& of : own_contracts()) expect_kept(of, names_of(of));
}

TEST_P(statement_contract, is_kept_by_every_text_for_groups_that_take_turns) {
  if (!GetParam()->can().shared) GTEST_SKIP() << "needs a second session in the same place";
  tableq::database db = tableq::database::open(here().url(), options_);
  const auto names = tableq::core::names_of(options_, db.find("turns").value());
  for (const contract& of : tableq::core::contracts()) {
    const bool used = of.needed_with(driver_->capabilities());
    if (used && of.name.starts_with("claim.")) expect_kept(of, names);
  }
  for (const contract& of : own_contracts())
    if (of.name.starts_with("claim.")) expect_kept(of, names);
}

TEST_P(statement_contract, numbers_the_items_of_a_batch) {
  if (!GetParam()->can().shared) GTEST_SKIP() << "needs a second session in the same place";
  const auto session = driver_->connect();
  const auto names = tableq::core::names_for(options_, "fifo");
  const std::vector<value> items{value(std::string_view("a")), value(),
                                 value(std::string_view("")),  value(),
                                 value(std::string_view("c")), value()};
  const value now;
  const auto rows = session->execute(contract_of(statement::fifo_enqueue), names, {&now, 1}, items);
  ASSERT_EQ(rows.size(), 3U);
  std::vector<bool> seen(3);
  for (std::size_t i = 0; i < 3; ++i) seen.at(static_cast<std::size_t>(rows.integer(i, 0))) = true;
  EXPECT_EQ(seen, std::vector<bool>({true, true, true}));
}

TABLEQ_ON_BACKENDS(statement_contract, all_backends);

}  // namespace
