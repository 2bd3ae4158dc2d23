#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tableq/tableq.hpp>

namespace tableq_test {

/// The specification of a mapped table: docs/tables.md as code.
class table_model {
 public:
  using millis = std::int64_t;  ///< Since 1970.

  /// A row, and what the columns of the table must hold.
  struct entry {
    tableq::message_state state = tableq::message_state::ready;
    std::int64_t importance = 0;
    std::int64_t attempts = 0;
    std::int64_t fence = 0;
    std::optional<millis> marked_at = {};  ///< The time by which a null_time tells it.
    std::optional<millis> taken_at = {};
    std::optional<millis> lease_until = {};
    std::optional<millis> due_at = {};
    std::optional<millis> sent_at = {};
    std::optional<std::string> error = {};
    std::optional<std::string> errors = {};  ///< The newest first.
  };

  explicit table_model(tableq::table_mapping mapping = {}) : mapping_(std::move(mapping)) {}

  [[nodiscard]] const tableq::table_mapping& mapping() const { return mapping_; }
  [[nodiscard]] const std::map<std::int64_t, entry>& all() const { return all_; }

  void add(std::int64_t id, std::int64_t importance, std::optional<millis> due);
  /// The next rows in order, taken. The database chooses new fences: `fenced` sets them.
  std::vector<std::int64_t> take(std::size_t max, millis lease, millis now);
  void fenced(std::int64_t id, std::int64_t fence) { all_.at(id).fence = fence; }
  [[nodiscard]] tableq::settle_result complete(const tableq::receipt& r, millis now);
  [[nodiscard]] tableq::settle_result fail(const tableq::receipt& r, const std::string& error,
                                           millis delay, bool give_up, millis now);
  [[nodiscard]] tableq::settle_result release(const tableq::receipt& r);
  [[nodiscard]] tableq::settle_result extend(const tableq::receipt& r, millis lease, millis now);
  std::size_t requeue(millis age, millis now);

  [[nodiscard]] std::vector<std::int64_t> waiting(millis now) const;
  [[nodiscard]] std::size_t delayed(millis now) const;
  /// Leases that have ended, before a take finds them.
  [[nodiscard]] std::size_t expired(millis now) const;
  [[nodiscard]] std::size_t count(tableq::message_state which) const;

 private:
  [[nodiscard]] bool has_leases() const { return !mapping_.lease_until.empty(); }
  [[nodiscard]] bool exhausted(const entry& of) const {
    return mapping_.max_attempts && of.attempts >= *mapping_.max_attempts;
  }
  void back(entry& in, bool dead) const;
  void note(entry& in, const std::string& error) const;
  void expire(millis now);
  entry* held(const tableq::receipt& r);

  tableq::table_mapping mapping_;
  std::map<std::int64_t, entry> all_;
};

}  // namespace tableq_test
