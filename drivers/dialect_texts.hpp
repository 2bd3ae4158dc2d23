#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include <tableq/unstable/dialect.hpp>

#include "core/seam/driver.hpp"
#include "core/seam/statement.hpp"
#include "core/seam/table_form.hpp"
#include "drivers/blocks.hpp"
#include "drivers/pieces.hpp"
#include "drivers/transport.hpp"

namespace tableq::inline v0::drivers {

/// The forms of a dialect's texts. A process needs few of them: the first use parses each.
///
/// @par Thread safety
/// Shared objects: safe.
class text_variants {
 public:
  /// @param file dialect::statements or dialect::tables.
  const blocks& of(const dialect& definition, std::string dialect::*file,
                   const text_variant& wanted);

 private:
  std::mutex mutex_;
  /// By whether they are dialect::tables. Guarded by mutex_.
  std::map<std::pair<bool, text_variant>, blocks> parsed_;
};

/// The most statements of core and of one driver together.
inline constexpr std::size_t most_statements = 256;

/// Which further texts a statement has: see text_form.
struct further_texts {
  bool one = false;
  bool next = false;
  bool payloads = false;
  bool query = false;
  std::size_t values = 0;  ///< Of each item of its own `{items: ...}`; zero: it has none.
  bool common = false;     ///< The text names no table of a queue, so that queues can share it.
};

/// Which of a statement's texts.
struct text_choice {
  clock_source clock;
  text_form form;
  bool hinted;  ///< With dialect::plan_hints.
};

/// A dialect with its statements, shared by all sessions of a database.
struct dialect_texts {
  dialect definition;
  const transport_kind* transport = nullptr;
  blocks statements;  ///< `{clock}` is the database's function. Empty before learn().
  std::array<further_texts, most_statements> further = {};  ///< By statement.
  std::shared_ptr<text_variants> variants = std::make_shared<text_variants>();

  /// The templates for tables of applications.
  [[nodiscard]] const blocks& of_tables(clock_source clock) const {
    return variants->of(definition, &dialect::tables, {.clock = clock});
  }

  /// The statements on the queue of these tables.
  [[nodiscard]] const blocks& of_queue(clock_source clock, const core::table_names& names,
                                       message_detail columns = message_detail::all) const;

  /// The values of each item in the text of a batching::rows.
  [[nodiscard]] std::size_t values_of(const core::contract& contract) const {
    return contract.texts == nullptr ? further_of(contract).values : contract.items.size();
  }
  [[nodiscard]] const further_texts& further_of(const core::contract& contract) const {
    return further.at(static_cast<std::size_t>(contract.id));
  }

  /// The text of a statement for a queue.
  /// @throws error errc::unsupported when the dialect has none.
  [[nodiscard]] text compiled(const core::contract& contract, const core::table_names& names,
                              const text_choice& which) const;

  /// How the items of a batch come into its text.
  [[nodiscard]] batching batches_of(const core::contract& contract, const text_form& form) const;

  /// Whether the text for a further item of a batch takes several of them.
  /// @param payloads whether the items have nothing but payloads.
  [[nodiscard]] bool takes_several(const core::contract& contract, bool payloads) const;

  /// Parses the texts of `definition`, once.
  void learn();

  /// The DDL of a kind, of `catalog` or `concurrency`, or of a step's part: `2/pending/2.alone`.
  /// @throws error errc::unsupported.
  [[nodiscard]] std::string ddl_of(std::string_view part) const;
};

/// Checks that a dialect has everything that core needs.
/// @throws error errc::invalid_argument naming the missing or wrong part.
void check_dialect(const dialect& added, const blocks& statements);

/// Fills a template of a dialect's tables.sql with a statement on an application's table. Names are
/// quoted; everything else is the dialect's own text.
/// @param one the text is for one item, whose values are parameters; otherwise they are columns of
///   `given`.
/// @throws error errc::invalid_argument when the templates lack a block that the statement needs.
std::string fill_table(std::string_view text, const blocks& templates,
                       const core::table_form& statement, bool one);

/// The text without dialect::plan_hints.
[[nodiscard]] std::string without_hints(const dialect& definition, std::string text);

/// Whether the database found no plan because of the text's hints. A record with another number
/// says another reason: a server also reports that the statement could not be prepared.
[[nodiscard]] bool has_no_plan(const dialect& definition, const native_failure& failure);

}  // namespace tableq::inline v0::drivers
