#include "watched.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "http.hpp"
#include "output.hpp"

namespace tool::web {

namespace {

using std::chrono::milliseconds;

constexpr std::chrono::seconds rate_length{10};
constexpr std::chrono::minutes attention{1};
constexpr std::chrono::seconds patience{10};
/// Limits change seldom: they are read in every fifth look.
constexpr std::size_t limits_every = 5;

/// Reads what somebody looks at: in the next look, then again and again.
/// @throws tableq::error when the database is away.
template <class One, class Read>
void refresh(beside<One>& into, bool wanted, bool again, const Read& read) {
  if (wanted && into.tried() && !again) return;
  into = {};
  if (!wanted) return;
  try {
    into.found = read();
  } catch (const tableq::error& failure) {
    if (failure.code() == tableq::errc::unsupported) {  // In an older layout there are none.
      into.found.emplace();
    } else if (failure.code() == tableq::errc::permission_denied) {
      into.no_right = true;
    } else if (of_one_queue(failure)) {
      into.trouble = sentence_of(failure);
    } else {
      throw;
    }
  }
}

float known(const std::optional<double>& rate) {
  return rate ? static_cast<float>(*rate) : std::numeric_limits<float>::quiet_NaN();
}

}  // namespace

milliseconds between(tableq::timestamp earlier, tableq::timestamp later) {
  if (later <= earlier) return milliseconds{0};
  std::int64_t out = 0;
  const bool too_long = __builtin_sub_overflow(later.time_since_epoch().count(),
                                               earlier.time_since_epoch().count(), &out);
  return too_long ? milliseconds::max() : milliseconds{out};
}

std::vector<tableq::schedule_info> schedules_of(tableq::database db, std::string_view queue) {
  auto out = db.schedules().list();
  if (!queue.empty())
    std::erase_if(out, [&](const auto& each) { return each.rule.queue != queue; });
  for (tableq::schedule_info& each : out) {
    each.rule.payload.clear();
    each.rule.headers.clear();
  }
  return out;
}

std::vector<tableq::batch_info> batches_of(const tableq::database& db) {
  return db.batches({.max = 20, .count_to = 10'000});
}

std::optional<milliseconds> queue_view::oldest() const {
  if (!figures || !figures->oldest()) return std::nullopt;
  return between(*figures->oldest(), figures->as_of());
}

std::optional<std::size_t> queue_view::counted_to() const {
  if (!figures) return std::nullopt;
  return std::visit([](const auto& stats) { return stats.counted_to; }, figures->found);
}

figure queue_view::find(std::string_view wanted) const {
  const auto found = std::ranges::find(counts, wanted, &figure::name);
  return found != counts.end() ? *found : figure{wanted, std::nullopt};
}

const queue_view* database_view::find(std::string_view queue) const {
  const auto found = std::ranges::lower_bound(queues, queue, {}, &queue_view::name);
  return found != queues.end() && found->name() == queue ? &*found : nullptr;
}

milliseconds database_view::age() const {
  if (!looked_at) return milliseconds::max();
  return std::chrono::floor<milliseconds>(steady::now() - *looked_at);
}

watched_database::watched_database(std::string label, connection_options where,
                                   milliseconds interval, milliseconds span)
    : label_(std::move(label)),
      where_(std::move(where)),
      interval_(interval),
      sample_length_(span / most_samples) {
  seen_.span = span;
  try {
    (void)open();
  } catch (const tableq::error& failure) {
    // A wrong address stays wrong. All else may heal.
    if (failure.code() == tableq::errc::invalid_argument) throw;
    seen_.trouble = sentence_of(failure);
  }
  publish();
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

watched_database::~watched_database() = default;

std::shared_ptr<const database_view> watched_database::view() {
  const std::lock_guard lock(mutex_);
  const auto before = std::exchange(asked_, steady::now());
  if (asked_ - before > attention) wake_.notify_all();
  if (waits_since_ && asked_ - *waits_since_ > patience && view_->trouble.empty()) {
    auto late = std::make_shared<database_view>(*view_);
    late->trouble = "It has not answered for ten seconds.";
    view_ = std::move(late);
  }
  return view_;
}

tableq::database watched_database::open() {
  {
    const std::lock_guard lock(mutex_);
    if (db_) return *db_;
  }
  // Not under the mutex: it may wait for the network.
  tableq::database opened = connect(where_, false, 8, std::chrono::seconds{5});
  const std::lock_guard lock(mutex_);
  if (!db_) db_ = opened;
  return *db_;
}

void watched_database::attend(const std::string& queue) {
  const std::lock_guard lock(mutex_);
  attended_[queue] = steady::now();
}

bool watched_database::attended(const std::string& queue) {
  const std::lock_guard lock(mutex_);
  const auto found = attended_.find(queue);
  return found != attended_.end() && steady::now() - found->second < attention;
}

void watched_database::look_again(const std::string& queue) {
  const std::unique_lock lock(looking_, std::chrono::seconds{2});
  if (!lock.owns_lock()) return;  // The figures come with the look that runs.
  const auto found = followed_.find(queue);
  if (found == followed_.end()) return;
  tableq::database db = open();
  look_at_queue(db, found->second, true);
  publish();
}

void watched_database::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    goes_on();
    look();
    const auto rest = seen_.every;
    std::unique_lock lock(mutex_);
    waits_since_.reset();
    const bool attended = steady::now() - asked_ < attention;
    const auto until = steady::now() + (attended ? rest : std::max(rest, sample_length_));
    wake_.wait_until(lock, stop, until,
                     [&] { return !attended && steady::now() - asked_ < attention; });
  }
}

void watched_database::look() {
  const std::lock_guard looking(looking_);
  const auto began = steady::now();
  const bool was_away = !seen_.trouble.empty();
  try {
    tableq::database db = open();
    look_at_queues(db);
    note_look();
    if (steady::now() - remembered_ >= sample_length_) remember();
  } catch (const tableq::error& failure) {  // The figures stay, with the reason.
    seen_.trouble = sentence_of(failure);
    // A database object stays with its file; with a server it heals by itself.
    const bool replaced =
        failure.code() == tableq::errc::not_found && failure.backend() == "sqlite";
    if (replaced) close();
  } catch (const std::exception& failure) {
    seen_.trouble = failure.what();
  }
  ++round_;
  // A look at a database that is or was away waits long, and costs it nothing.
  constexpr milliseconds before_another_try{2000};
  const auto fair = std::chrono::ceil<milliseconds>(3 * (steady::now() - began));
  const bool waited = was_away || !seen_.trouble.empty();
  seen_.every = std::max(interval_, waited ? std::min(fair, before_another_try) : fair);
  publish();
}

/// The database is gone. The next look opens what is there then.
void watched_database::close() {
  for (auto& [name, queue] : followed_) queue.seen.opened.reset();
  const std::lock_guard lock(mutex_);
  db_.reset();
}

void watched_database::look_at_queues(tableq::database& db) {
  std::set<std::string, std::less<>> present;
  auto shown = steady::now();
  for (const tableq::queue_info& each : db.queues()) {
    present.insert(each.name);
    auto known_one = followed_.find(each.name);
    // A queue that was dropped and created again is another one.
    if (known_one != followed_.end() && known_one->second.seen.info.identity != each.identity) {
      followed_.erase(known_one);
      known_one = followed_.end();
    }
    if (known_one == followed_.end()) known_one = followed_.try_emplace(each.name).first;
    known_one->second.seen.info = each;
    goes_on();
    look_at_queue(db, known_one->second, round_ % limits_every == 0);
    if (round_ == 0 && steady::now() - shown > std::chrono::seconds{1}) {
      // The first look at thousands of queues takes a while: those that were read are shown.
      note_look();
      publish();
      shown = steady::now();
    }
  }
  std::erase_if(followed_, [&](const auto& each) { return !present.contains(each.first); });
  look_at_rules(db);
  const std::lock_guard lock(mutex_);
  std::erase_if(attended_,
                [](const auto& each) { return steady::now() - each.second > attention; });
}

void watched_database::look_at_queue(tableq::database& db, followed& queue, bool with_limits) {
  queue_view& seen = queue.seen;
  try {
    if (!seen.opened) seen.opened = open_source(db, seen.info);
    queue_figures found = look_at(*seen.opened, {});
    const bool first = !seen.figures;
    while (queue.recent.size() > 1 &&
           found.as_of() - queue.recent[1].as_of() >= milliseconds(rate_length)) {
      queue.recent.pop_front();
    }
    if (!queue.recent.empty()) seen.rates = rates_of(queue.recent.front(), found);
    queue.recent.push_back(found);
    if (!queue.begun) queue.begun = found;
    seen.counts = figures_of(found);
    seen.figures = std::move(found);
    if ((with_limits || first) && seen.info.kind != tableq::kind::table) {
      std::visit(
          [&](const auto& opened) {
            seen.limits = opened.limits();
            seen.paused = opened.paused();
          },
          *seen.opened);
    }
    const auto* claim = std::get_if<tableq::claim_queue>(&*seen.opened);
    const bool wanted = claim != nullptr && seen.info.groups && attended(seen.name());
    refresh(seen.groups, wanted, with_limits, [&] { return claim->groups(most_groups); });
    seen.trouble.clear();
  } catch (const tableq::error& failure) {
    if (!of_one_queue(failure)) throw;
    seen.trouble = sentence_of(failure);
  } catch (const refused_error& failure) {  // It was dropped meanwhile.
    seen.trouble = failure.what();
  }
}

void watched_database::look_at_rules(const tableq::database& db) {
  const bool again = round_ % limits_every == 0;
  const auto look_at = [&](auto& into, const auto& has, const auto& read) {
    const bool wanted = std::ranges::any_of(followed_, [&](const auto& each) {
      return has(each.second.seen.info) && attended(each.first);
    });
    refresh(into, wanted, again, read);
  };
  look_at(
      seen_.schedules, [](const auto& info) { return info.schedules; },
      [&] { return schedules_of(db); });
  look_at(
      seen_.batches, [](const auto& info) { return info.batches || info.batch_ends; },
      [&] { return batches_of(db); });
}

void watched_database::remember() {
  const auto now = steady::now();
  const auto passed = static_cast<std::size_t>((now - remembered_) / sample_length_);
  remembered_ = now;
  // Samples without a look: the database was away.
  const std::size_t missed = passed > 2 ? std::min(passed - 1, most_samples) : 0;
  for (auto& [name, queue] : followed_) {
    queue_view& seen = queue.seen;
    if (!seen.figures) continue;
    auto past = std::make_shared<history>(*seen.past);
    const float none = known({});
    if (!past->empty()) past->insert(past->end(), missed, {none, none, none});
    const auto rates = rates_of(*queue.begun, *seen.figures);
    past->push_back({.ready = static_cast<float>(seen.find("ready").count.value_or(0)),
                     .enqueued = known(rates.enqueued),
                     .left = known(rates.left)});
    const std::size_t most = std::min(past->size(), most_samples);
    past->erase(past->begin(), past->end() - static_cast<std::ptrdiff_t>(most));
    queue.begun = seen.figures;
    seen.past = std::move(past);
  }
}

void watched_database::goes_on() {
  const std::lock_guard lock(mutex_);
  waits_since_ = steady::now();
}

void watched_database::note_look() {
  seen_.trouble.clear();
  seen_.looked_at = steady::now();
}

void watched_database::publish() {
  auto made = std::make_shared<database_view>(seen_);
  for (const auto& [name, queue] : followed_) made->queues.push_back(queue.seen);
  const std::lock_guard lock(mutex_);
  view_ = std::move(made);
}

std::string label_of(const std::string& url) {
  const std::size_t scheme_end = url.find("://");
  if (scheme_end == std::string::npos) return "database";
  std::string scheme = lower_case(url.substr(0, scheme_end));
  std::string rest = url.substr(scheme_end + 3);
  rest.resize(std::min(rest.find('?'), rest.size()));
  if (scheme == "sqlite") return "sqlite: " + rest.substr(rest.find_last_of('/') + 1);
  // A connection string of a driver may hold a password anywhere.
  if (scheme != "postgresql" && scheme != "sqlserver") return scheme;
  const std::size_t at = rest.rfind('@');
  // A question mark in a password.
  if (at == std::string::npos && url.find('@') != std::string::npos) return scheme;
  return scheme + ": " + rest.substr(at + 1);
}

}  // namespace tool::web
