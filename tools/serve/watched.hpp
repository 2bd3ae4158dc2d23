#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <tableq/tableq.hpp>

#include "connection.hpp"
#include "figures.hpp"
#include "output.hpp"
#include "source.hpp"

namespace tool::web {

using steady = std::chrono::steady_clock;

/// From one time to a later one; zero if it is not later, and the longest span if there is none so
/// long: plain SQL may write any time.
std::chrono::milliseconds between(tableq::timestamp earlier, tableq::timestamp later);

/// The pictures show so many readings.
inline constexpr std::size_t most_samples = 120;

/// A queue at one time. A figure that is not known is not a number.
struct sample {
  float ready;
  float enqueued;  ///< Each second.
  float left;
};
using history = std::vector<sample>;

/// The most groups on a page, those that wait longest.
inline constexpr std::size_t most_groups = 10;

/// Rows that are read beside the figures, while somebody looks at a page that shows them.
template <class One>
struct beside {
  std::optional<std::vector<One>> found = {};
  bool no_right = false;     ///< The user of the database may not read them.
  std::string trouble = {};  ///< Another reason; empty: they were not read.

  [[nodiscard]] bool tried() const { return found || no_right || !trouble.empty(); }
};

/// The schedules of all queues, or of this one, without payloads and headers.
std::vector<tableq::schedule_info> schedules_of(tableq::database db, std::string_view queue = "");
/// The newest batches, with bounded counts.
std::vector<tableq::batch_info> batches_of(const tableq::database& db);

/// The figures of a queue at the last look.
struct queue_view {
  tableq::queue_info info = {};
  std::optional<any_source> opened = {};      ///< Empty: it could not be opened yet.
  std::optional<queue_figures> figures = {};  ///< Of the last look that could read them.
  std::vector<figure> counts = {};            ///< Of the figures.
  tableq::queue_rates rates = {};             ///< Over the last ten seconds or so.
  std::optional<tableq::queue_limits> limits = {};
  bool paused = false;
  std::string trouble = {};  ///< Why the last look could not read it; empty if it could.
  beside<tableq::waiting_group> groups = {};
  std::shared_ptr<const history> past = std::make_shared<history>();  ///< Oldest first.

  [[nodiscard]] const std::string& name() const { return info.name; }
  /// The database's time at the last look.
  [[nodiscard]] tableq::timestamp now() const {
    return figures ? figures->as_of() : tableq::timestamp();
  }
  /// Where its counts stop.
  [[nodiscard]] std::optional<std::size_t> counted_to() const;
  /// How long the oldest ready message waits.
  [[nodiscard]] std::optional<std::chrono::milliseconds> oldest() const;
  /// The count of a figure by its name.
  [[nodiscard]] figure find(std::string_view wanted) const;
};

/// The queues of a database at the last look.
struct database_view {
  std::vector<queue_view> queues = {};  ///< By name.
  std::string trouble = {};             ///< Why the last look has failed; empty if it has not.
  std::optional<steady::time_point> looked_at = {};  ///< The last look that has not. Empty: none.
  std::chrono::milliseconds every{0};                ///< The time between two looks now.
  std::chrono::milliseconds span{0};                 ///< The time that the pictures show.
  beside<tableq::schedule_info> schedules = {};      ///< Of all queues.
  beside<tableq::batch_info> batches = {};           ///< The newest ones.

  [[nodiscard]] const queue_view* find(std::string_view queue) const;
  /// The last look has not failed.
  [[nodiscard]] bool up() const { return trouble.empty() && looked_at; }
  [[nodiscard]] std::chrono::milliseconds age() const;
};

/// A database whose figures one thread reads, for all viewers.
///
/// Reads every `interval` while somebody looks; seldom, for the history, when nobody has for a
/// minute; and never for more than a quarter of its time. Goes on when the database is away. One
/// that does not answer for ten seconds is away.
///
/// @par Thread safety
/// Shared objects: safe.
class watched_database {
 public:
  /// @param label names it on pages and in metrics; without a password.
  /// @param span the time that the pictures show.
  watched_database(std::string label, connection_options where, std::chrono::milliseconds interval,
                   std::chrono::milliseconds span);
  ~watched_database();
  watched_database(const watched_database&) = delete;
  watched_database& operator=(const watched_database&) = delete;

  [[nodiscard]] const std::string& label() const { return label_; }
  /// The figures. Never waits for the database.
  [[nodiscard]] std::shared_ptr<const database_view> view();
  /// The open database. @throws tableq::error while it could not be opened.
  [[nodiscard]] tableq::database open();
  /// Somebody looks at this queue: its groups are read, too, and schedules and batches.
  void attend(const std::string& queue);
  /// Reads a queue anew, so that the next page shows a change.
  void look_again(const std::string& queue);

 private:
  struct followed {
    queue_view seen = {};
    std::deque<queue_figures> recent = {};
    std::optional<queue_figures> begun = {};  ///< At the last sample.
  };
  void run(const std::stop_token& stop);
  void look();
  void close();
  void look_at_queues(tableq::database& db);
  void look_at_queue(tableq::database& db, followed& queue, bool with_limits);
  void look_at_rules(const tableq::database& db);
  [[nodiscard]] bool attended(const std::string& queue);
  void remember();
  /// The database has answered.
  void note_look();
  void publish();
  /// The database has answered, or is about to be asked.
  void goes_on();

  const std::string label_;
  const connection_options where_;
  const std::chrono::milliseconds interval_;
  const std::chrono::milliseconds sample_length_;

  std::timed_mutex looking_;                               // one look at a time
  std::map<std::string, followed, std::less<>> followed_;  // guarded by looking_
  std::size_t round_ = 0;                                  // guarded by looking_
  steady::time_point remembered_ = {};                     // guarded by looking_
  database_view seen_;                                     // guarded by looking_; its queues: there

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::optional<tableq::database> db_;                  // guarded by mutex_
  std::shared_ptr<const database_view> view_;           // guarded by mutex_
  steady::time_point asked_ = steady::now();            // guarded by mutex_
  std::map<std::string, steady::time_point> attended_;  // guarded by mutex_
  std::optional<steady::time_point> waits_since_;       // guarded by mutex_; while it looks
  std::jthread thread_;
};

/// A name of the database without user, password and options: `postgresql://host/name`.
std::string label_of(const std::string& url);

}  // namespace tool::web
