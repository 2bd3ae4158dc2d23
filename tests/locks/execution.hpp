#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "locks/steps.hpp"
#include "locks/world.hpp"

namespace tableq_test::locks {

/// One statement at work, as its data say. A hint does what the documentation promises of it and
/// nothing more: a row that was read without UPDLOCK may have changed when the statement changes
/// it.
class execution {
 public:
  execution(world& in, participant& who, const statement_data& what, const call& with);
  steps run();

 private:
  /// A row that was found, and why.
  struct found_row {
    std::int64_t id = 0;
    const data_line* by = nullptr;
    const values* item = nullptr;
  };
  /// A row that was changed in the clustered index, but not in the others.
  struct changed_row {
    std::int64_t id = 0;
    row_values before = {};
    std::optional<row_values> after = {};  ///< None: deleted.
  };

  steps read(const data_line& line, const data_line* change);
  steps find_again(const data_line& line, const data_line* change);
  steps range(const data_line& line, const values* item, const data_line* change);
  steps seek_and_hold(const data_line& line, const values* item, bool& hit);
  steps visit(const data_line& line, const index_shape& index, place_in_index at,
              const values* item, std::int64_t& hit);
  steps change_all(const data_line& line, std::vector<found_row> rows);
  steps change_clustered(const data_line& line, found_row row, std::optional<changed_row>& out);
  steps change_index(const index_shape& index, const changed_row& row);
  steps insert(const data_line& line);
  steps put(const index_shape& index, place_in_index at, row_values row);

  /// What a read of an index gets, from the entry alone or from the row behind it; null for a
  /// ghost.
  [[nodiscard]] const row_values* live_row(const index_shape& index, const place_in_index& at,
                                           bool alone) const;
  [[nodiscard]] std::string resource(const index_shape& index,
                                     const std::optional<place_in_index>& at) const;
  [[nodiscard]] std::optional<std::int64_t> resolve(std::string_view name,
                                                    const values* item) const;
  [[nodiscard]] bool meets(const condition& each, std::int64_t value, const values* item) const;
  [[nodiscard]] bool meets_all(const data_line& line, const row_values& row,
                               const values* item) const;
  /// Whether a seek of the index comes to this place.
  [[nodiscard]] bool comes_to(const data_line& line, const index_shape& index,
                              const place_in_index& at, const values* item) const;
  [[nodiscard]] std::vector<const values*> items_in_order(const data_line& line) const;
  [[nodiscard]] std::int64_t most() const;
  [[nodiscard]] row_values assigned(const data_line& line, row_values row,
                                    const values* item) const;
  void keep_versions();
  void look_at_versions(const data_line& line, const values* item);
  void give_up_waiting();
  void note(const data_line& line, std::int64_t id, const values* item);
  void keep(table_rows::undo undo) { who_.undo.push_back(std::move(undo)); }

  world& in_;
  participant& who_;
  const statement_data& what_;
  const call& with_;
  std::map<std::string, std::map<std::int64_t, row_values>> begun_with_ = {};  // what versions show
  table_rows* rows_ = nullptr;  // of the line at work
  std::string table_ = {};
  std::vector<found_row> found_ = {};
  std::set<const values*> left_out_ = {};
  std::vector<std::int64_t> drawn_ = {};
  std::int64_t counted_before_ = 0;  // by the statement before
  bool ended_ = false;
};

}  // namespace tableq_test::locks
