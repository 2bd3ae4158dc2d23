#include <tableq/soci_row.hpp>

#include <algorithm>
#include <exception>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/seam/named.hpp"
#include "drivers/row_source.hpp"
#include "drivers/row_trial.hpp"

namespace tableq::inline v0 {
namespace {

using drivers::candidate_types;
using drivers::candidates_of;
using drivers::empty_value;
using drivers::ending;
using drivers::from_base_function;
using drivers::served_column;
using drivers::try_columns;
using drivers::value_as;

/// The types that a from_base asks for, by the names of columns, as it spells them.
using asked_types = std::map<std::string, soci::data_type, std::less<>>;

/// Finds these types for one row. It adds one column after the other to SOCI's row, as from_base
/// asks for them, and tries the types of each. If from_base fails, the reason is most often the
/// last column. So its type changes first; those of earlier columns change only if none fits.
class type_search {
 public:
  type_search(const row& source, const from_base_function& from_base, const asked_types& known)
      : source_(source), from_base_(from_base), known_(known) {}

  asked_types run() {
    for (int tries = 0; tries < most_tries; ++tries) {
      const ending ended = attempt();
      switch (ended.how) {
        case ending::kind::wrong_type:
          if (!next_types()) refuse_type();
          break;
        case ending::kind::no_such_name:
          if (!add_asked(ended.name)) return result();
          break;
        case ending::kind::no_such_place:
          if (!add_next()) return result();
          break;
        case ending::kind::done:
        case ending::kind::refused_by_soci:
        case ending::kind::foreign:
          // An empty trial value may cause this. The call with the real values decides.
          return result();
      }
    }
    refuse_type();
  }

 private:
  /// Enough for every type of hundreds of columns, one by one.
  static constexpr int most_tries = 5000;

  struct column {
    std::string name;       ///< As from_base spells it; as the row does if it asks by position.
    candidate_types types;  ///< To be tried from the first.
    std::size_t at = 0;
    [[nodiscard]] soci::data_type type() const { return types.at(at); }
  };

  ending attempt() {
    std::vector<served_column> served;
    served.reserve(columns_.size());
    for (const column& each : columns_) {
      served.push_back({each.name, each.type(), {}});
      try {
        served.back().value = value_as(source_, each.name, each.type());
      } catch (const error&) {  // The reader finds the same, once it is sure of the type.
        served.back().value = empty_value(each.type());
      }
    }
    return try_columns(served, from_base_);
  }

  /// The next combination, the last column first.
  bool next_types() noexcept {
    for (std::size_t i = columns_.size(); i > 0; --i) {
      column& each = columns_[i - 1];
      if (++each.at < each.types.size()) return true;
      each.at = 0;
    }
    return false;
  }

  void add(const std::string& name) {
    candidate_types types = candidates_of(source_.value(name).type());
    const auto found = known_.find(name);
    if (found != known_.end() && fits(name, found->second)) {
      std::stable_partition(types.begin(), types.end(),
                            [&](auto each) { return each == found->second; });
    }
    columns_.push_back({name, types});
  }
  [[nodiscard]] bool fits(const std::string& name, soci::data_type type) const {
    try {
      static_cast<void>(value_as(source_, name, type));
      return true;
    } catch (const error&) {  // That is the answer.
      return false;
    }
  }
  /// @return false: SOCI's row has it already.
  bool add_asked(const std::string& name) {
    if (by_position_ && add_next()) return true;
    if (std::ranges::find(columns_, name, &column::name) != columns_.end()) return false;
    add(name);
    return true;
  }
  /// From the first time that from_base asks for a position, the columns have the order of the row.
  bool add_next() {
    if (!std::exchange(by_position_, true)) columns_.clear();
    if (columns_.size() >= source_.size()) return false;
    add(source_.name(columns_.size()));
    return true;
  }

  [[nodiscard]] asked_types result() const {
    asked_types out;
    for (const column& each : columns_) out.emplace(each.name, each.type());
    return out;
  }

  [[noreturn]] void refuse_type() const {
    const std::string& name = columns_.empty() ? source_.name(0) : columns_.back().name;
    core::refuse("from_base reads column \"" + name + "\", which is " +
                 std::string(to_string(source_.value(name).type())) +
                 ", or one that it reads before, as a type that rows of SOCI do not hold; they "
                 "hold std::string, int, long long, unsigned long long, double and std::tm");
  }

  const row& source_;
  const from_base_function& from_base_;
  const asked_types& known_;
  std::vector<column> columns_;
  bool by_position_ = false;
};

/// All columns of the row in their order, and then those that from_base spells otherwise.
struct whole_row {
  std::vector<served_column> columns;
  std::exception_ptr misfit;  ///< A value is not of the type that from_base asks for.
};

void add_column(whole_row& out, const row& source, const std::string& name, soci::data_type type) {
  out.columns.push_back({name, type, {}});
  try {
    out.columns.back().value = value_as(source, name, type);
  } catch (const error&) {  // The reader throws this error again.
    out.columns.back().value = empty_value(type);
    if (!out.misfit) out.misfit = std::current_exception();
  }
}

whole_row whole(const row& source, const asked_types& asked) {
  whole_row out;
  out.columns.reserve(source.size() + asked.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::string& name = source.name(i);
    const auto found = asked.find(name);
    add_column(out, source, name,
               found != asked.end() ? found->second : candidates_of(source.type(i)).front());
  }
  for (const auto& [name, type] : asked) {
    const auto same = [&name = name](const served_column& each) { return each.name == name; };
    if (std::ranges::none_of(out.columns, same) && source.contains(name)) {
      add_column(out, source, name, type);
    }
  }
  return out;
}

std::string null_columns(const row& source) {
  std::string out;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (!source.is_null(source.name(i))) continue;
    out += (out.empty() ? "\"" : ", \"") + source.name(i) + "\"";
  }
  return out.empty() ? "none is" : out;
}

/// Throws an error that says more than the exception of SOCI.
[[noreturn]] void explain(const row& source, const ending& ended) {
  if (ended.how == ending::kind::foreign) std::rethrow_exception(ended.thrown);
  std::string sentence;
  switch (ended.how) {
    case ending::kind::no_such_place:
      sentence = "from_base asks for a position beyond the last column of the row, which has " +
                 std::to_string(source.size());
      break;
    case ending::kind::no_such_name:
      static_cast<void>(source.is_null(ended.name));
      [[fallthrough]];
    case ending::kind::wrong_type:
      sentence = "from_base asks for other columns or types each time that it is called";
      break;
    default:
      sentence =
          "from_base or SOCI refuses the row; columns that are NULL: " + null_columns(source);
  }
  try {
    std::rethrow_exception(ended.thrown);
  } catch (const std::exception&) {  // The cause stays nested in the error.
    std::throw_with_nested(error(errc::invalid_argument, advice::never, sentence));
  }
}

}  // namespace

/// The types that the first rows have shown.
class soci_row_reader::memory {
 public:
  std::shared_ptr<const asked_types> get() {
    const std::lock_guard lock(mutex_);
    return types_;
  }
  void add(const asked_types& more) {
    const std::lock_guard lock(mutex_);
    auto all = std::make_shared<asked_types>(more);
    all->insert(types_->begin(), types_->end());
    types_ = std::move(all);
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<const asked_types> types_ = std::make_shared<const asked_types>();
};

soci_row_reader::soci_row_reader() : known_(std::make_unique<memory>()) {}
soci_row_reader::~soci_row_reader() = default;

void soci_row_reader::read(const row& source, const from_base_function& from_base) {
  const auto known = known_->get();
  whole_row columns = whole(source, *known);
  ending ended;
  if (!columns.misfit) ended = try_columns(columns.columns, from_base);
  const bool may_learn = columns.misfit != nullptr || ended.how == ending::kind::wrong_type ||
                         ended.how == ending::kind::no_such_name;
  if (may_learn) {
    const asked_types learned = type_search(source, from_base, *known).run();
    columns = whole(source, learned);
    if (columns.misfit) std::rethrow_exception(columns.misfit);
    known_->add(learned);
    ended = try_columns(columns.columns, from_base);
  }
  if (ended.how != ending::kind::done) explain(source, ended);
}

row soci_row(const std::function<void(soci::values&)>& to_base,
             std::span<const std::string_view> names) {
  drivers::written_row written = drivers::written_by(to_base, names);
  if (written.others != 0) {
    std::string listed;
    for (const std::string_view name : names) {
      listed += (listed.empty() ? "\"" : ", \"") + std::string(name) + "\"";
    }
    core::refuse("to_base sets " + std::to_string(written.others) +
                 " values whose names soci_row_traits does not list, or that have no name; it "
                 "lists " +
                 listed);
  }
  return std::move(written.named);
}

}  // namespace tableq::inline v0
