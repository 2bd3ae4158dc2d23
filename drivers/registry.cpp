#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <tableq/error.hpp>
#include <tableq/schema.hpp>
#include <tableq/unstable/dialect.hpp>

#include "core/base/errors.hpp"
#include "core/base/process.hpp"
#include "core/input/connection_string.hpp"
#include "core/seam/contract.hpp"
#include "core/seam/driver.hpp"
#include "drivers/dialects.hpp"
#include "drivers/opening.hpp"
#include "drivers/own_sessions.hpp"
#include "drivers/session.hpp"
#if defined(TABLEQ_WITH_ODBC)
#include "drivers/transport/odbc_address.hpp"
#endif

namespace tableq::inline v0 {
namespace drivers {

const transport_kind* find_transport(std::string_view name) noexcept {
#if defined(TABLEQ_WITH_SQLITE)
  if (name == sqlite_transport.name) return &sqlite_transport;
#endif
#if defined(TABLEQ_WITH_POSTGRESQL)
  if (name == libpq_transport.name) return &libpq_transport;
#endif
#if defined(TABLEQ_WITH_ODBC)
  if (name == odbc_transport.name) return &odbc_transport;
#endif
  return nullptr;
}

namespace {

/// The dialects of this process. Owns them. A database keeps the texts with which it was opened.
///
/// @par Thread safety
/// Shared objects: safe.
class known_dialects {
 public:
  // Their check belongs to the tests: it would cost each process more than its first call.
  known_dialects() {
#if defined(TABLEQ_WITH_SQLITE)
    insert(texts_of(make_sqlite_dialect()));
#endif
#if defined(TABLEQ_WITH_POSTGRESQL)
    insert(texts_of(make_postgresql_dialect()));
#endif
#if defined(TABLEQ_WITH_SQLSERVER)
    insert(texts_of(make_sqlserver_dialect()));
#endif
  }

  void add(dialect added) {
    const std::string name = added.name;
    core::named(name, "register_dialect", [&] {
      auto texts = texts_of(std::move(added));
      texts->learn();
      check_dialect(texts->definition, texts->statements);
      const std::scoped_lock hold(core::process_wide());
      insert(std::move(texts));
    });
  }

  [[nodiscard]] std::shared_ptr<const dialect_texts> by_name(std::string_view name) const {
    const std::scoped_lock hold(core::process_wide());
    const auto found = by_name_.find(name);
    if (found != by_name_.end()) return learned(found->second);
    const dialect* const meant = meant_by(name);
    throw error(errc::invalid_argument, advice::never,
                "unknown dialect; this build knows " + listed([](const dialect_texts& texts) {
                  return texts.definition.name;
                }) + (meant == nullptr ? "" : ". Write " + meant->name));
  }

  [[nodiscard]] std::shared_ptr<const dialect_texts> by_scheme(std::string_view scheme) const {
    const std::scoped_lock hold(core::process_wide());
    if (const auto* const texts = with(&dialect::schemes, scheme)) return learned(*texts);
    std::string sentence =
        (scheme.empty() ? "the connection string begins with no scheme; this build knows "
                        : "unknown scheme in the connection string; this build knows ") +
        listed([](const dialect_texts& texts) { return texts.definition.schemes.front() + "://"; });
#if defined(TABLEQ_WITH_ODBC)
    sentence += " or odbc://";
#endif
    if (const dialect* const meant = meant_by(scheme)) sentence += ". Write " + meant->name + "://";
    throw error(errc::invalid_argument, advice::never, sentence);
  }

  /// @param product the database's name in ODBC drivers.
  [[nodiscard]] std::shared_ptr<const dialect_texts> by_product(std::string_view product) const {
    const std::scoped_lock hold(core::process_wide());
    if (const auto* const texts = with(&dialect::products, product)) return learned(*texts);
    throw error(errc::unsupported, advice::never,
                "the database behind the ODBC driver has no dialect in this build, which knows " +
                    listed([](const dialect_texts& texts) { return texts.definition.name; }));
  }

  /// Before a session exists, the dialect is unknown. The failure is permanent if any dialect
  /// classifies it as permanent.
  [[nodiscard]] advice advice_for_login(native_error failure) const {
    failure.link_lost = false;
    const std::scoped_lock hold(core::process_wide());
    for (const auto& [name, texts] : by_name_) {
      const verdict means = texts->definition.classify(failure);
      if (means.code == errc::connection_failed && means.advice == advice::never)
        return means.advice;
    }
    return advice::session;
  }

  [[nodiscard]] std::vector<std::string> names() const {
    const std::scoped_lock hold(core::process_wide());
    std::vector<std::string> out;
    for (const auto& [name, texts] : by_name_) out.push_back(name);
    return out;
  }

 private:
  static std::shared_ptr<dialect_texts> texts_of(dialect added) {
    auto texts = std::make_shared<dialect_texts>();
    texts->transport = find_transport(added.transport);
    texts->definition = std::move(added);
    return texts;
  }
  /// Only the dialects that a process uses are parsed. The caller holds process_wide().
  static std::shared_ptr<const dialect_texts> learned(const std::shared_ptr<dialect_texts>& texts) {
    texts->learn();
    return texts;
  }

  /// The dialect whose list has the word; null: none.
  [[nodiscard]] const std::shared_ptr<dialect_texts>* with(std::vector<std::string> dialect::*list,
                                                           std::string_view word) const {
    for (const auto& [name, texts] : by_name_) {
      const auto& all = texts->definition.*list;
      if (std::ranges::find(all, word) != all.end()) return &texts;
    }
    return nullptr;
  }

  void insert(std::shared_ptr<dialect_texts> texts) {
    const dialect& added = texts->definition;
    for (const std::string& scheme : added.schemes) {
      const auto* const other = with(&dialect::schemes, scheme);
      const std::string& name = other == nullptr ? added.name : (*other)->definition.name;
      if (name != added.name)
        core::refuse("the scheme " + scheme + " belongs to the dialect " + name);
    }
    by_name_.insert_or_assign(added.name, std::move(texts));
  }

  /// The dialect of a name as others write it: SQLServer, mssql, jdbc:sqlserver, mssql+pyodbc. Null
  /// if it is none's.
  [[nodiscard]] const dialect* meant_by(std::string_view word) const {
    std::string letters;
    for (const char c : word) {
      const auto each = static_cast<unsigned char>(c);
      if (std::isalnum(each) != 0) letters += static_cast<char>(std::tolower(each));
    }
    for (const auto& [name, texts] : by_name_) {
      for (const std::string& scheme : texts->definition.schemes) {
        if (letters.find(scheme) != std::string::npos) return &texts->definition;
      }
    }
    return nullptr;
  }

  template <class Show>
  [[nodiscard]] std::string listed(Show show) const {
    std::string out;
    for (const auto& [name, texts] : by_name_) {
      if (!out.empty()) out += " or ";
      out += show(*texts);
    }
    return out;
  }

  // Guarded by process_wide().
  std::map<std::string, std::shared_ptr<dialect_texts>, std::less<>> by_name_;
};

known_dialects& known() {
  const std::scoped_lock hold(core::process_wide());
  static known_dialects all;
  return all;
}

class dialect_driver final : public core::driver {
 public:
  dialect_driver(std::shared_ptr<const dialect_texts> texts, endpoint address,
                 std::shared_ptr<core::fault_plan> faults)
      : driver(texts->definition.name, address.capabilities, address.pooled),
        texts_(std::move(texts)),
        address_(std::move(address)),
        faults_(std::move(faults)),
        make_(maker_of(texts_->definition.own)) {}

  std::unique_ptr<core::connection> connect(const core::callers_session* theirs) override {
    const session_source from{texts_, address_, faults_, &share_, theirs};
    return theirs != nullptr ? make_(from) : share_.logins.attempt([&] { return make_(from); });
  }
  [[nodiscard]] std::optional<bool> reaches(const core::connection& adopted) const {
    const session_place mine = share_.place.get();
    const session_place theirs = static_cast<const dialect_session&>(adopted).place();
    const bool exclusive = mine.exclusive && theirs.exclusive;
    if (exclusive) return !mine.name.empty() && mine.name == theirs.name;
    if (!mine.name.empty() && mine.name == theirs.name) return true;
    return std::nullopt;
  }
  [[nodiscard]] core::doubt doubt() const noexcept {
    const auto doubt = texts_->transport->doubt;
    return doubt == nullptr ? core::doubt() : doubt(address_);
  }
  void open_callers(soci::session& session) const {
    drivers::open_callers(*texts_, address_, share_, session);
  }
  std::unique_ptr<core::listener> listen() override {
    if (texts_->transport->listen == nullptr) return nullptr;
    // Without faults: notifications are hints, and calls of another thread have no fixed number.
    const session_source from{.texts = texts_, .address = address_, .share = &share_};
    return texts_->transport->listen(
        share_.logins.attempt([&] { return std::make_unique<dialect_session>(from); }), address_);
  }

 private:
  [[nodiscard]] session_maker maker_of(const own_sessions* own) const {
    if (own != nullptr && address_.capabilities.deleted_rows_linger) return own->of_database();
    return [](const session_source& from) { return std::make_unique<dialect_session>(from); };
  }

  std::shared_ptr<const dialect_texts> texts_;
  endpoint address_;
  std::shared_ptr<core::fault_plan> faults_;
  session_share share_;
  session_maker make_;
};

/// The endpoint, with the settings of the dialect's own sessions.
endpoint completed(endpoint address, const dialect& definition, const open_options& options) {
  if (!address.pooled) {
    address.setup.insert(address.setup.begin(), definition.setup.begin(), definition.setup.end());
  }
  address.wide_text = definition.wide_text;
  address.prepares = definition.prepares;
  address.shortcuts = options.shortcuts;
  address.may_create = options.schema == schema_policy::create_if_missing;
  return address;
}

#if defined(TABLEQ_WITH_ODBC)
/// Opens any database behind an ODBC connection string, with the dialect of its product.
std::unique_ptr<core::driver> odbc_driver(const connection_url& url, const open_options& options,
                                          std::shared_ptr<core::fault_plan> faults) {
  endpoint address{.connect = odbc::raw_connection_string(url)};
  std::string product;
  try {
    product = odbc_product(address);
  } catch (const native_failure& failure) {
    const native_error& native = failure.details();
    const verdict means = failure.judged().value_or(
        verdict{errc::connection_failed, known().advice_for_login(native)});
    throw error(means.code, means.advice, native.sentence + number_of_refusal(native),
                {"odbc", "connect", native.sqlstate, native.number});
  }
  auto texts = std::make_shared<dialect_texts>(*known().by_product(product));
  texts->transport = &odbc_transport;
  address.capabilities = texts->definition.capabilities;
  if (texts->definition.batches == batching::arrays) {
    // Arrays are sent as hexadecimal text: two characters for each byte.
    address.capabilities.max_payload =
        std::min(address.capabilities.max_payload, std::size_t{500'000'000});
  }
  address = completed(std::move(address), texts->definition, options);
  return std::make_unique<dialect_driver>(std::move(texts), std::move(address), std::move(faults));
}
#endif

}  // namespace
}  // namespace drivers

std::unique_ptr<core::driver> core::make_driver(std::string_view url, const open_options& options,
                                                std::shared_ptr<fault_plan> faults) {
  // by_scheme refuses it, and lists the schemes.
  if (url.find("://") == std::string_view::npos) {
    static_cast<void>(drivers::known().by_scheme({}));
  }
  const connection_url parsed = parse_connection_string(url);
  drivers::check_one_soci();
#if defined(TABLEQ_WITH_ODBC)
  if (parsed.scheme == "odbc") {
    return named("odbc", "connect",
                 [&] { return drivers::odbc_driver(parsed, options, std::move(faults)); });
  }
#endif
  auto texts = drivers::known().by_scheme(parsed.scheme);
  endpoint address = named(texts->definition.name, "connect", [&] {
    return drivers::completed(texts->definition.resolve(texts->definition, parsed),
                              texts->definition, options);
  });
  return std::make_unique<drivers::dialect_driver>(std::move(texts), std::move(address),
                                                   std::move(faults));
}

std::optional<bool> core::reaches(driver& database, const connection& adopted) {
  return static_cast<drivers::dialect_driver&>(database).reaches(adopted);
}

core::doubt core::doubt_of(driver& database) noexcept {
  return static_cast<drivers::dialect_driver&>(database).doubt();
}

void core::open_callers(driver& database, soci::session& session) {
  static_cast<drivers::dialect_driver&>(database).open_callers(session);
}

std::optional<error> core::failure_of_application(connection& session,
                                                  const std::exception& thrown) {
  return static_cast<drivers::dialect_session&>(session).failure_of_application(thrown);
}

void core::give_up(connection& session) noexcept {
  static_cast<drivers::dialect_session&>(session).give_up();
}

std::string_view core::reserved_beginning(std::string_view table) noexcept {
  // SQLite also reserves it for indexes: their names are the table's name, `_` and a suffix.
  if (table == "sqlite") return "sqlite_";
  for (const std::string_view kept : {"sqlite_", "pg_"}) {
    if (table.starts_with(kept)) return kept;
  }
  return {};
}

std::string core::ddl_text(std::string_view dialect, std::string_view part,
                           const table_names& names) {
  const auto texts = drivers::known().by_name(dialect);
  return drivers::fill_names(texts->definition.ddl.at(std::string(part)), texts->definition, names);
}

std::vector<core::step_part> core::step_parts(std::string_view dialect, std::string_view step,
                                              const table_names& names) {
  const auto texts = drivers::known().by_name(dialect);
  const auto found = texts->definition.steps.find(std::string(step));
  std::vector<step_part> out;
  if (found == texts->definition.steps.end()) return out;
  for (const auto& [part, text] : drivers::split_blocks(found->second)) {
    out.push_back({.name = std::string(step).append("/").append(part),
                   .alone = part.ends_with(".alone"),
                   .text = drivers::fill_names(text, texts->definition, names) + ";\n"});
  }
  return out;
}

std::string core::in_transaction_text(std::string_view dialect, std::string_view statements) {
  const auto texts = drivers::known().by_name(dialect);
  const std::string& in_scripts = texts->definition.begin_in_scripts;
  std::string out = in_scripts.empty() ? texts->definition.begin : in_scripts;
  return out.append(";\n").append(statements).append("COMMIT;\n");
}

std::string core::role_text(std::string_view dialect, std::string_view block,
                            const table_names& names, std::string_view user) {
  const auto texts = drivers::known().by_name(dialect);
  const auto text = texts->definition.ddl.find("roles");
  const auto blocks = text == texts->definition.ddl.end() ? decltype(texts->statements){}
                                                          : drivers::split_blocks(text->second);
  const auto found = blocks.find(block);
  if (found == blocks.end()) {
    throw error(errc::unsupported, advice::never,
                "this database has no rights to grant: access to the file is access to its queues",
                {.backend = texts->definition.name, .operation = "grants"});
  }
  return drivers::fill_role(found->second, texts->definition, names, user);
}

std::string core::statement_text(std::string_view dialect, statement id, const table_names& names,
                                 std::span<const value> shared) {
  const auto texts = drivers::known().by_name(dialect);
  const contract& contract = contract_of(id);
  const std::string& block = texts->statements.find(contract.name)->second;
  return drivers::with_literals(drivers::fill_names(block, texts->definition, names), contract,
                                shared);
}

core::table_texts core::table_texts_for(std::string_view dialect, std::string_view block,
                                        const table_form& statement) {
  const auto texts = drivers::known().by_name(dialect);
  const auto filled = [&](const drivers::blocks& templates, std::string_view ending, bool one) {
    const auto found = templates.find(std::string(block).append(ending));
    return found == templates.end() ? std::string()
                                    : drivers::fill_table(found->second, templates, statement, one);
  };
  const bool loop = texts->definition.batches == batching::loop;
  const auto both = [&](const drivers::blocks& templates) {
    return table_text{.many = filled(templates, "", loop),
                      .one = filled(templates, drivers::for_one, true)};
  };
  table_texts out{.own_clock = both(texts->of_tables(drivers::clock_source::database)),
                  .given_clock = both(texts->of_tables(drivers::clock_source::given))};
  if (out.own_clock.many.empty()) {
    throw error(errc::unsupported, advice::never,
                "this database's dialect has no statements for tables of applications",
                {.backend = texts->definition.name, .operation = std::string(block)});
  }
  return out;
}

std::map<std::string, std::string> core::statement_texts(std::string_view dialect,
                                                         const table_names& names) {
  const auto texts = drivers::known().by_name(dialect);
  std::map<std::string, std::string> out;
  for (const auto& [name, block] : texts->of_queue(drivers::clock_source::database, names)) {
    out.emplace(name, drivers::fill_names(block, texts->definition, names));
  }
  // Statements that read fewer columns, by texts of the same names.
  for (const contract& each : contracts()) {
    if (each.detail == message_detail::all) continue;
    const auto& blocks = texts->of_queue(drivers::clock_source::database, names, each.detail);
    const auto block = blocks.find(text_name(each));
    if (block == blocks.end()) continue;
    out.emplace(each.name, drivers::fill_names(block->second, texts->definition, names));
  }
  return out;
}

void register_dialect(dialect added) {
  drivers::known().add(std::move(added));
}

dialect find_dialect(std::string_view name) {
  return drivers::known().by_name(name)->definition;
}

std::vector<std::string> dialects() {
  return drivers::known().names();
}

}  // namespace tableq::inline v0
