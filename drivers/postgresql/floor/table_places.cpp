#include "drivers/postgresql/floor/table_places.hpp"

#include <algorithm>

namespace tableq::inline v0::drivers::postgresql {
namespace {

using std::chrono::milliseconds;

/// Stepping over this many deleted rows costs less than a look.
constexpr std::size_t few_messages = 64;
/// Stepping over the rows of this many reads also costs less.
constexpr std::size_t few_reads = 8;
/// After this time few reads are enough: leases and delays end meanwhile.
constexpr milliseconds long_ago{10};
/// After this time without a look many messages may have been leased and settled, or the clock set
/// back. Other processes may know more.
constexpr milliseconds too_long_ago{1000};
/// After this time the same is so although the reads were few and quick. A process may read a
/// thousand queues once a second each.
constexpr milliseconds much_too_long_ago{10'000};
/// Looks that come at once: at the beginning, and after such a time.
constexpr int first_looks = 10;
constexpr int two_looks = 2;
/// Reads from the very start take at most a fiftieth of the time, looks a twentieth.
constexpr int share_of_starting_over = 50;
constexpr int share_of_looks = 20;
constexpr milliseconds longest_pause = std::chrono::minutes{1};
constexpr milliseconds longest_rest = std::chrono::minutes{10};
/// A read from the very start that takes no longer is like any other.
constexpr milliseconds cheap{1};
/// Other processes learn of a move by so many ids, or milliseconds.
constexpr std::uint64_t many = 1000;
constexpr milliseconds between_news{250};
/// The first moves are told to other processes at once: this process may end soon.
constexpr int first_news = 3;

/// The next id. The highest possible id is returned unchanged.
constexpr position after(position id) noexcept {
  return id == highest ? id : id + 1;
}

/// @param current if it is no longer `asked`, it was wrong and has been lowered meanwhile.
void raise(position& current, position asked, std::optional<position> first,
           position most) noexcept {
  if (current == asked) current = std::max(current, std::min(first.value_or(highest), most));
}

/// @return whether it was above the id.
bool lower(position& place, position id) noexcept {
  if (id >= place) return false;
  place = id;
  return true;
}

}  // namespace

bool start_over::cheap_enough() const noexcept {
  return pause_ <= cheap * share_of_starting_over;
}

bool start_over::due(time_point now) noexcept {
  const bool paid = idle_ || cheap_enough() || spent_ >= pause_;
  if (now < next_ || !(paid || now >= began_ + longest_rest)) return false;
  next_ = now + every;
  return true;
}

void start_over::done(time_point began, time_point now) noexcept {
  const auto fair = std::chrono::ceil<milliseconds>((now - began) * share_of_starting_over);
  // The read may have waited for a lock: one alone says little.
  const auto most = 2 * std::max<milliseconds>(pause_, every);
  pause_ = std::min({fair, most, longest_pause});
  spent_ = {};
  began_ = began;
  next_ = began + std::max<milliseconds>(pause_, every);
}

position start_over::in(time_point now) const noexcept {
  return std::chrono::ceil<milliseconds>(std::max(next_, now) - now).count();
}

void start_over::set_in(position wait, time_point now) noexcept {
  next_ = now + std::clamp(milliseconds(wait), milliseconds{0}, longest_pause);
}

table_places::table_places() {
  // Reserved now, so that a lack of memory cannot lose the messages of a read.
  levels_.reserve(most_levels);
}

table_places::start table_places::begin(time_point now, bool asks) {
  const std::scoped_lock hold(mutex_);
  if (reads_.due(now) || (asks && searches_.due(now))) return {.searches = asks, .at = now};
  return {.where = now_at(), .everything = false, .at = now};
}

void table_places::end(const start& begun, std::span<const read_message> messages, order by,
                       time_point now) {
  const std::scoped_lock hold(mutex_);
  if (begun.everything) {
    reads_.done(begun.at, now);
    glances_.done(begun.at, now);
    started_over_ = true;
    overdue_ = overdue_ || messages.empty();
  }
  if (begun.searches) searches_.done(begun.at, now);
  slow_ = slow_ || now - begun.at > cheap;
  const auto took = now - begun.at;
  reads_.took(begun.everything ? clock::duration() : took, messages.empty());
  searches_.took(begun.searches ? clock::duration() : took, messages.empty());
  bool wrong = false;
  position last = lowest;
  for (const read_message& each : messages) {
    last = std::max(last, each.id);
    if (by == order::priorities || by == order::turns) {
      kept_level& of = find_or_add(each.priority);
      of.last = std::max(of.last, each.id);
      if (by == order::turns) {
        wrong = lower(at_.line, each.since) || wrong;
      } else if (!each.returned) {
        wrong = lower(of.floor, each.id) || wrong;
      }
    }
    if (each.returned) continue;
    if (lower(at_.oldest, each.id)) wrong = true;
  }
  if (messages.empty()) return;
  read_ += messages.size();
  most_ = std::max(most_, messages.size());
  known_ = wrong ? last : std::max(known_, last);
  if (wrong) writers_.forget();
}

table_places::start table_places::glance(time_point now) {
  const std::scoped_lock hold(mutex_);
  if (glances_.due(now)) return {.at = now};
  return {.where = now_at(), .everything = false, .at = now};
}

void table_places::glanced(const start& begun, time_point now) {
  const std::scoped_lock hold(mutex_);
  if (!begun.everything) return glances_.took(now - begun.at, false);
  glances_.done(begun.at, now);
  started_over_ = true;
}

places table_places::search(bool all, bool again) {
  const std::scoped_lock hold(mutex_);
  places out = at_;
  if (all && std::exchange(overdue_, overdue_ && again)) out.passed = lowest;
  return out;
}

void table_places::met(position id) noexcept {
  const std::scoped_lock hold(mutex_);
  if (lower(at_.oldest, id)) writers_.forget();
}

std::optional<table_places::question> table_places::ask(order by, time_point now) {
  const std::scoped_lock hold(mutex_);
  if (looking_) return std::nullopt;
  const auto since = now - began_;
  // Messages that were leased and settled before a rest lie between the last look and now. Each
  // read steps over them until a second look.
  const bool few = read_ < few_reads && !slow_;
  if (at_.passed != lowest && read_ > 0 && since >= (few ? much_too_long_ago : too_long_ago))
    hurried_ = std::max(hurried_, two_looks);
  if (hurried_ > 0) {
    --hurried_;
  } else {
    const bool many_read = read_ >= std::max(few_messages, few_reads * most_);
    const bool late = read_ >= few_reads && since >= long_ago;
    if (now < not_before_ || !(many_read || late)) return std::nullopt;
  }
  // Most messages have this priority.
  if ((by == order::priorities || by == order::turns) && levels_.empty()) find_or_add(0);
  looking_ = true;
  began_ = now;
  read_ = 0;
  most_ = 0;
  slow_ = false;
  return question{
      .by = by, .where = now_at(), .known = known_, .writers = writers_.writers(), .at = now};
}

void table_places::answer(const question& asked, sight seen, time_point now) {
  const std::scoped_lock hold(mutex_);
  looking_ = false;
  not_before_ = now + (now - began_) * share_of_looks;
  learned_ = now;
  if (seen.clock && *seen.clock < clock_) {
    // Messages that were enqueued after the clock was set back may fall due before any known one.
    at_.passed = lowest;
    at_.line = lowest;
    writers_.forget();
  }
  // A weight lets messages stand before others at any time.
  const bool weighted = asked.by == order::turns && seen.line == lowest;
  if (weighted) at_.line = lowest;
  clock_ = seen.clock.value_or(clock_);
  // For later looks: this one may have read its writers before that id was drawn.
  known_ = std::max(known_, seen.last.value_or(lowest));
  // The first look began at the very start, too.
  if (asked.where.reached() == lowest) {
    reads_.done(asked.at, now);
    glances_.done(asked.at, now);
  }
  const writers_watch::progress progress = writers_.look(std::move(seen.writers), seen.ended);
  if (progress == writers_watch::progress::waiting) return;
  if (progress == writers_watch::progress::settled && rise(asked, seen)) hurried_ = 0;
  first_look_id_ = std::max(asked.known, seen.first.value_or(lowest));
  for (const auto& [priority, first] : seen.levels)
    first_look_id_ = std::max(first_look_id_, first.value_or(lowest));
  first_look_time_ = seen.clock.value_or(lowest);
  first_look_line_ = weighted ? lowest : first_look_time_;
}

/// @return whether the places reach the first messages; otherwise the first look was too long ago.
bool table_places::rise(const question& asked, const sight& seen) noexcept {
  bool reached = true;
  if (asked.by != order::times) {
    const position most = after(first_look_id_);
    const auto rises = [&](position& place, position before, std::optional<position> first) {
      raise(place, before, first, most);
      reached = reached && first.value_or(after(asked.known)) <= most;
    };
    rises(at_.oldest, asked.where.oldest, seen.first);
    for (const auto& [priority, first] : seen.levels) {
      const auto before = std::ranges::find(asked.where.levels, priority, &level::priority);
      kept_level* const found = find(priority);
      if (found != nullptr && before != asked.where.levels.end())
        rises(found->floor, before->floor, first);
    }
  }
  if (asked.by == order::turns) raise(at_.line, asked.where.line, seen.line, first_look_line_);
  if (seen.clock) {
    raise(at_.passed, asked.where.passed, seen.due, first_look_time_);
    reached = reached && *seen.clock <= first_look_time_ + too_long_ago.count();
  }
  return reached;
}

void table_places::give_up() noexcept {
  const std::scoped_lock hold(mutex_);
  looking_ = false;
  writers_.forget();
}

bool table_places::asks_others(bool first, time_point now) {
  const std::scoped_lock hold(mutex_);
  const bool never = asked_ == time_point();
  if (!never && (first || now - std::max(learned_, asked_) < too_long_ago)) return false;
  if (never) hurried_ = first_looks;
  asked_ = now;
  return true;
}

void table_places::adopt(const shared_places& told, milliseconds age, time_point now) {
  const std::scoped_lock hold(mutex_);
  if (now - age <= learned_) return;
  learned_ = now - age;
  levels_.clear();
  for (const level& each : told.where.levels) {
    if (levels_.size() < most_levels) levels_.push_back(kept_level{each, lowest});
  }
  at_ = told.where;
  at_.levels.clear();
  told_of_ = told.where.reached();
  reads_.set_in(told.read_in - age.count(), now);
  searches_.set_in(told.read_in - age.count(), now);
  glances_.set_in(told.glance_in - age.count(), now);
}

std::optional<shared_places> table_places::news(time_point now) {
  const std::scoped_lock hold(mutex_);
  const bool young = told_ < first_news;
  if (!young && now - told_at_ < between_news) return std::nullopt;
  shared_places out{.where = now_at(), .read_in = reads_.in(now), .glance_in = glances_.in(now)};
  const position reached = out.where.reached();
  const bool moved =
      reached < told_of_ ||
      static_cast<std::uint64_t>(reached) - static_cast<std::uint64_t>(told_of_) >= many;
  // A read from the very start that is cheap costs another process no more than this news.
  const bool checked = started_over_ && !reads_.cheap_enough() && now - told_at_ >= too_long_ago;
  if (!moved && !checked && !(young && reached != told_of_)) return std::nullopt;
  ++told_;
  told_at_ = now;
  told_of_ = reached;
  started_over_ = false;
  return out;
}

places table_places::now_at() const {
  places out = at_;
  out.levels.reserve(levels_.size());
  for (const kept_level& each : levels_) out.levels.push_back(each);
  return out;
}

table_places::kept_level* table_places::find(position priority) noexcept {
  const auto found = std::ranges::find(levels_, priority, &kept_level::priority);
  return found == levels_.end() ? nullptr : &*found;
}

/// A new level takes the place of the one that was not read for the longest time.
table_places::kept_level& table_places::find_or_add(position priority) {
  if (kept_level* const known = find(priority)) return *known;
  if (levels_.size() == most_levels) {
    levels_.erase(std::ranges::min_element(levels_, {}, &kept_level::last));
  } else {
    hurried_ = first_looks;
  }
  const auto before =
      std::ranges::find_if(levels_, [&](const level& x) { return x.priority < priority; });
  return *levels_.insert(before, kept_level{{.priority = priority, .floor = at_.oldest}, lowest});
}

}  // namespace tableq::inline v0::drivers::postgresql
