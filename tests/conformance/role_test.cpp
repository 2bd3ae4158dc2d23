#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "support/becomes.hpp"
#include "support/fixture.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::role;
using tableq::settle_result;

/// Queues in a schema in which only the owner has rights.
class role_ground : public ground {
 protected:
  /// False: no rights apply to this database, or this user.
  bool prepare_roles() {
    const auto schema = here().other_schema();
    if (!schema) return false;
    schema_ = *schema;
    owner_ = open({.schema_name = schema_});
    user_ = here().new_user();
    return user_.has_value();
  }
  [[nodiscard]] tableq::database& owners() { return *owner_; }
  [[nodiscard]] const std::string& schema() const { return schema_; }
  /// A new user with a role on a queue.
  tableq::database as(role what, std::string_view queue, const tableq::queue_settings& settings,
                      tableq::schema_policy policy = tableq::schema_policy::verify_only) {
    const database_user user = *(user_ ? std::exchange(user_, {}) : here().new_user());
    here().sql(tableq::grants(owners().backend(), what, user.name, queue, settings,
                              {.schema_name = schema_}));
    if (!can().ids_from_one) {
      const auto& dead = settings.claim.dead_letters;
      const bool adds = what == role::producer || what == role::replacer || what == role::manager;
      if (adds) grant_all_of_additions(std::string(queue), user.name);
      if (what == role::consumer && dead) grant_all_of_additions(*dead, user.name);
    }
    return tableq::database::open(
        user.url, {.schema = policy, .schema_name = schema_, .poll_interval = 100ms});
  }

 private:
  /// Where another server has the table, it draws ids and fills in all defaults in the name of the
  /// caller.
  void grant_all_of_additions(const std::string& queue, const std::string& user) {
    here().sql("GRANT INSERT ON " + schema_ + "." + queue + " TO " + user);
    here().sql("GRANT USAGE ON SEQUENCE " + schema_ + "." + queue + "_id_seq TO " + user);
  }

  std::string schema_;
  std::optional<tableq::database> owner_;
  std::optional<database_user> user_;
};

class role_of_kind : public testing::TestWithParam<std::tuple<const backend*, tableq::kind>>,
                     public role_ground {
 protected:
  void SetUp() override {
    prepare(*std::get<0>(GetParam()));
    if (IsSkipped() || HasFatalFailure()) return;
    if (!prepare_roles()) GTEST_SKIP() << "this database, or this user, knows no rights";
    open_queue(owners(), kind(), "mail");
    open_queue(owners(), kind(), "other");
    any_queue(owners(), kind(), "mail").put("there");
  }
  void TearDown() override { clear(); }
  [[nodiscard]] tableq::kind kind() const { return std::get<1>(GetParam()); }
  tableq::database as(role what,
                      tableq::schema_policy policy = tableq::schema_policy::verify_only) {
    return role_ground::as(what, "mail", {.kind = kind()}, policy);
  }
};
TABLEQ_ON_KINDS(role_of_kind, distinct_backends);

TEST_P(role_of_kind, scheduler_follows_schedules_and_others_leave_them) {
  owners().schedules().add({.name = "r", .queue = "mail", .every = 1h, .payload = "periodic"});
  manual_clock ahead;
  ahead.set(owners().schedules().find("r")->next.at(0) + 1s);
  const auto user_with = [&](const std::vector<role>& roles) {
    const database_user user = *here().new_user();
    for (const role each : roles) {
      here().sql(tableq::grants(owners().backend(), each, user.name, "mail", {.kind = kind()},
                                {.schema_name = schema()}));
    }
    return tableq::database::open(user.url, {.schema = tableq::schema_policy::verify_only,
                                             .schema_name = schema(),
                                             .clock = ahead.source()});
  };
  auto consumers = user_with({role::consumer});
  EXPECT_EQ(any_queue(consumers, kind(), "mail").take_up_to(10).size(), 1U) << "there";
  EXPECT_TRUE(any_queue(consumers, kind(), "mail").take_up_to(10).empty());
  auto schedulers = user_with({role::consumer, role::scheduler});
  EXPECT_CODE(permission_denied, schedulers.schedules().remove("r"));
  const auto got = any_queue(schedulers, kind(), "mail").take_up_to(10);
  EXPECT_EQ(payloads_of(got), std::vector<std::string>{"periodic"});
  EXPECT_EQ(owners().schedules().find("r")->problem, "");
}

TEST_P(role_of_kind, producer_adds_and_reads_nothing) {
  auto theirs = as(role::producer);
  any_queue mail(theirs, kind(), "mail");
  mail.put("one");
  EXPECT_EQ(mail.put_all({"two", "three"}).size(), 2U);
  auto tx = theirs.begin();
  mail.in(tx).put("four");
  tx.commit();
  EXPECT_CODE(permission_denied, static_cast<void>(mail.take()));
  EXPECT_CODE(permission_denied, static_cast<void>(mail.peek(1)));
  EXPECT_CODE(permission_denied, mail.base().pause());
  EXPECT_CODE(permission_denied, mail.base().set_limits({.capacity = 1}));
  EXPECT_CODE(permission_denied, static_cast<void>(theirs.drop("mail")));
  EXPECT_CODE(permission_denied, any_queue(theirs, kind(), "other").put("x"));
  any_queue all(owners(), kind(), "mail");
  all.base().set_limits({.capacity = 6});
  mail.put("five");
  EXPECT_EQ(all.waiting(), 6U);
}

TEST_P(role_of_kind, consumer_reads_and_adds_nothing) {
  auto theirs = as(role::consumer);
  any_queue mail(theirs, kind(), "mail");
  EXPECT_EQ(mail.peek(1).at(0), "there");
  EXPECT_EQ(mail.waiting(), 1U);
  EXPECT_EQ(mail.take()->payload, "there");
  EXPECT_TRUE(mail.take_up_to(3, 1ms).empty());
  any_queue(owners(), kind(), "mail").base().set_limits({.rate = 1000.0});
  any_queue(owners(), kind(), "mail").put("limited");
  EXPECT_EQ(mail.take_up_to(1, 60s).at(0).payload, "limited");
  EXPECT_CODE(permission_denied, mail.put("x"));
  EXPECT_CODE(permission_denied, mail.base().pause());
  EXPECT_CODE(permission_denied, static_cast<void>(theirs.drop("mail")));
  EXPECT_CODE(permission_denied, static_cast<void>(any_queue(theirs, kind(), "other").take()));
}

TEST_P(role_of_kind, viewer_sees_figures_and_no_message) {
  auto theirs = as(role::viewer);
  any_queue mail(theirs, kind(), "mail");
  EXPECT_EQ(mail.waiting(), 1U);
  EXPECT_EQ(theirs.queues().size(), 2U);
  EXPECT_FALSE(mail.base().paused());
  EXPECT_NO_THROW(static_cast<void>(theirs.inspect())) << "without the schedules";
  EXPECT_CODE(permission_denied, static_cast<void>(mail.peek(1)));
  EXPECT_CODE(permission_denied, static_cast<void>(mail.take()));
  EXPECT_CODE(permission_denied, mail.put("x"));
  EXPECT_CODE(permission_denied, any_queue(theirs, kind(), "other").put("x"));
}

TEST_P(role_of_kind, manager_does_all_but_ddl) {
  auto theirs = as(role::manager);
  any_queue mail(theirs, kind(), "mail");
  mail.put("one");
  EXPECT_EQ(mail.take()->payload, kind() == tableq::kind::lifo ? "one" : "there");
  mail.base().pause();
  EXPECT_TRUE(mail.base().paused());
  mail.base().resume();
  mail.base().set_limits({.capacity = 10, .rate = 5.0});
  EXPECT_EQ(mail.base().limits().capacity, 10U);
  EXPECT_CODE(permission_denied, static_cast<void>(theirs.drop("mail")));
  EXPECT_CODE(permission_denied, any_queue(theirs, kind(), "other").put("x"));
}

TEST_P(role_of_kind, owner_creates_and_drops) {
  auto theirs = as(role::owner, tableq::schema_policy::create_if_missing);
  any_queue(theirs, kind(), "new").put("works");
  EXPECT_TRUE(theirs.drop("mail"));
  if (can().schemas_own_tables) {
    EXPECT_TRUE(theirs.drop("other"));
  } else {
    EXPECT_CODE(permission_denied, static_cast<void>(theirs.drop("other")));
  }
}

/// Claim queues with all options that need more rights.
class role_of_claims : public testing::TestWithParam<const backend*>, public role_ground {
 protected:
  void SetUp() override {
    prepare(*GetParam());
    if (IsSkipped() || HasFatalFailure()) return;
    if (!prepare_roles()) GTEST_SKIP() << "this database, or this user, knows no rights";
  }
  void TearDown() override { clear(); }
  tableq::database as(role what, const tableq::claim_options& options) {
    return role_ground::as(what, "jobs", {.kind = tableq::kind::claim, .claim = options});
  }
};
TABLEQ_ON_BACKENDS(role_of_claims, shared_backends);

TEST_P(role_of_claims, all_keep_the_limits_of_groups_and_a_manager_changes_them) {
  for (const bool turns : {false, true}) {
    const tableq::claim_options options{.groups = tableq::group_options{.by_turns = turns}};
    auto all = owners().claim("jobs", options);
    all.set_group_limits({.running = 2, .rate = 0.01});
    if (turns) all.set_group_limits({.running = 2, .rate = 0.01, .weight = 2}, "a");
    auto sending = as(role::producer, options);
    auto to = sending.claim("jobs");
    for (int i = 0; i < 4; ++i) to.enqueue("x", {.group = "a"});
    auto working = as(role::consumer, options);
    auto from = working.claim("jobs");
    const auto first = from.take(9);
    ASSERT_EQ(first.size(), 1U);
    EXPECT_EQ(from.fail(first[0].receipt, "no", {.delay = 0ms}), settle_result::applied);
    EXPECT_TRUE(from.take(9).empty()) << "its start was used";
    auto seeing = as(role::viewer, options);
    EXPECT_EQ(seeing.claim("jobs").group_limits().groups.size(), turns ? 2U : 1U);
    EXPECT_CODE(permission_denied, from.set_group_limits({.running = 9}));
    auto managing = as(role::manager, options);
    if (turns) managing.claim("jobs").set_group_limits({.running = 3, .rate = 1000.0}, "a");
    managing.claim("jobs").set_group_limits({.running = 3, .rate = 1000.0});
    EXPECT_EQ(from.take(9, {.wait = 5s}).size(), 3U);
    if (!turns) {
      EXPECT_CODE(permission_denied, managing.claim("jobs").set_group_limits({}))
          << "the option of the queue is the owner's";
    }
    EXPECT_TRUE(owners().drop("jobs"));
  }
}

TEST_P(role_of_claims, producer_and_consumer_of_groups_keys_and_kept_messages) {
  for (const bool keep : {false, true}) {
    const tableq::claim_options options{.keep_completed = keep,
                                        .key_window = 1ms,
                                        .groups = tableq::group_options{.by_turns = keep}};
    auto all = owners().claim("jobs", options);
    auto sending = as(role::producer, options);
    auto to = sending.claim("jobs");
    EXPECT_TRUE(to.enqueue("a", {.key = "k", .group = "g"}).created());
    EXPECT_FALSE(to.enqueue("b", {.key = "k", .group = "g"}).created());
    EXPECT_TRUE(to.enqueue("c", {.group = "g"}).created());
    EXPECT_CODE(duplicate_key,
                to.enqueue("d", {.key = "k", .on_duplicate = tableq::on_duplicate::reject}));
    EXPECT_CODE(permission_denied,
                to.enqueue("e", {.key = "k", .on_duplicate = tableq::on_duplicate::replace}));
    auto working = as(role::consumer, options);
    auto from = working.claim("jobs");
    const auto first = from.take(5);
    ASSERT_EQ(first.size(), 1U);
    from.progress(first[0], 0.5, "half");
    EXPECT_EQ(from.extend(first[0].receipt, 60s), settle_result::applied);
    const auto id = first[0].receipt.id;
    EXPECT_EQ(from.get(id, {.progress = true})->progress->note, "half");
    EXPECT_EQ(keep ? from.complete(first[0], "42") : from.complete(first[0]),
              settle_result::applied);
    EXPECT_EQ(from.wait_for(id).result, keep ? std::optional<std::string>("42") : std::nullopt);
    EXPECT_CODE(permission_denied, static_cast<void>(to.wait_for(id)));
    const auto second = from.take(5);
    ASSERT_EQ(second.size(), 1U);
    EXPECT_EQ(second[0].payload, "c");
    EXPECT_EQ(from.release(second[0].receipt), settle_result::applied);
    EXPECT_EQ(from.fail(from.take(1).at(0).receipt, "no", {.give_up = true}),
              settle_result::applied);
    EXPECT_EQ(from.get(second[0].receipt.id)->errors.size(), 1U);
    EXPECT_TRUE(to.enqueue("f", {.key = "k"}).created()) << "the window is over";
    EXPECT_CODE(permission_denied, from.set_priority(second[0].receipt.id, 5));
    EXPECT_TRUE(owners().drop("jobs"));
  }
}

TEST_P(role_of_claims, replacer_replaces_and_reads_nothing) {
  for (const bool turns : {false, true}) {
    const tableq::claim_options options{.groups = {.by_turns = turns, .enabled = turns}};
    auto all = owners().claim("jobs", options);
    auto theirs = as(role::replacer, options);
    auto to = theirs.claim("jobs");
    to.enqueue("a", {.key = "k"});
    for (const auto each : {tableq::on_duplicate::replace, tableq::on_duplicate::postpone}) {
      EXPECT_FALSE(
          to.enqueue("b", {.headers = {{"h", "v"}}, .key = "k", .on_duplicate = each}).created());
    }
    EXPECT_EQ(all.peek().at(0).payload, "b");
    EXPECT_CODE(permission_denied, static_cast<void>(to.take(1)));
    EXPECT_CODE(permission_denied, static_cast<void>(to.peek()));
    EXPECT_EQ(as(role::viewer, options).claim("jobs").stats().ready, 1U);
    EXPECT_TRUE(owners().drop("jobs"));
  }
}

TEST_P(role_of_claims, viewer_lists_states_and_times) {
  for (const bool turns : {false, true}) {
    const tableq::claim_options options{.keep_completed = true,
                                        .groups = {.by_turns = turns, .enabled = turns}};
    auto all = owners().claim("jobs", options);
    for (const std::string& each : numbered(4)) {
      all.enqueue(each, {.headers = {{"h", "v"}}, .key = each});
    }
    EXPECT_EQ(all.complete(all.take(1).at(0)), settle_result::applied);
    EXPECT_EQ(all.fail(all.take(1).at(0).receipt, "no", {.give_up = true}), settle_result::applied);
    EXPECT_EQ(all.take(1).size(), 1U);
    auto theirs = as(role::viewer, options);
    auto seen = theirs.claim("jobs");
    for (const auto state : {tableq::message_state::ready, tableq::message_state::leased,
                             tableq::message_state::delayed, tableq::message_state::held,
                             tableq::message_state::done, tableq::message_state::dead}) {
      const auto whole = all.list(state);
      const auto found = seen.list(state, {.with = {.detail = tableq::message_detail::seen}});
      ASSERT_EQ(found.size(), whole.size()) << to_string(state);
      for (const auto& each : found) {
        EXPECT_EQ(seen.get(each.id, {.detail = tableq::message_detail::seen})->state, state);
      }
      EXPECT_CODE(permission_denied, static_cast<void>(seen.list(state)));
      EXPECT_CODE(permission_denied,
                  static_cast<void>(
                      seen.list(state, {.with = {.detail = tableq::message_detail::outline}})));
    }
    EXPECT_CODE(permission_denied, static_cast<void>(seen.groups()));
    EXPECT_TRUE(owners().drop("jobs"));
  }
}

TEST_P(role_of_claims, consumer_applies_a_retention_and_others_leave_it) {
  const tableq::claim_options options{.keep_completed = true,
                                      .retention = tableq::retention{.done = 1ms}};
  auto all = owners().claim("jobs", options);
  all.enqueue("a");
  auto working = as(role::consumer, options);
  auto from = working.claim("jobs");
  EXPECT_EQ(from.complete(from.take(1).at(0).receipt), settle_result::applied);
  EXPECT_TRUE(becomes([&] {
    auto again = as(role::consumer, options);  // Each object looks at once.
    EXPECT_TRUE(again.claim("jobs").take(1).empty());
    return all.stats().done == 0;
  }));
  EXPECT_CODE(permission_denied, working.alter("jobs", {.lease = 1s}));
}

TEST_P(role_of_claims, consumer_moves_the_dead_and_manager_brings_them_back) {
  const tableq::claim_options options{.max_attempts = 1, .dead_letters = "morgue"};
  auto all = owners().claim("jobs", options);
  auto working = as(role::consumer, options);
  auto from = working.claim("jobs");
  all.enqueue("a");
  EXPECT_EQ(from.fail(from.take(1).at(0).receipt, "no"), settle_result::applied);
  EXPECT_EQ(owners().claim("morgue").stats().ready, 1U);
  EXPECT_CODE(permission_denied, static_cast<void>(working.claim("morgue").peek()));
  EXPECT_CODE(permission_denied, from.redrive_all());
  EXPECT_EQ(from.stats().ready, 0U);
  EXPECT_FALSE(from.stats().dead_letters) << "not theirs to read";
  EXPECT_FALSE(as(role::viewer, options).claim("jobs").stats().dead_letters);
  auto managing = as(role::manager, options);
  auto managed = managing.claim("jobs");
  EXPECT_EQ(managed.stats().dead_letters, 1U);
  EXPECT_EQ(managed.redrive_all().count, 1U);
  const auto found = managed.peek();
  EXPECT_EQ(managed.set_priority(found.at(0).id, 3), tableq::change_result::applied);
  EXPECT_EQ(managed.cancel(found.at(0).id), tableq::change_result::applied);
}

TEST_P(role_of_claims, producer_fills_a_batch_and_consumer_ends_it) {
  const tableq::queue_settings parts{.kind = tableq::kind::claim, .claim = {.batches = true}};
  open_queue(owners(), tableq::kind::claim, "ends");
  auto own = owners().claim("parts", parts.claim);
  auto producer = role_ground::as(role::producer, "parts", parts).claim("parts");
  auto batch =
      producer.begin_batch({.then = tableq::batch_end{.queue = "ends", .payload = "over"}});
  producer.enqueue("one", {.batch = batch});
  producer.enqueue("two", {.batch = batch});
  batch.seal();
  EXPECT_EQ(batch.get()->outstanding, 2U);
  // Without a right on the queue of the end a settlement succeeds, and others end the batch.
  auto poor = role_ground::as(role::consumer, "parts", parts).claim("parts");
  for (const auto& taken : poor.take(2)) EXPECT_EQ(poor.complete(taken), settle_result::applied);
  EXPECT_FALSE(batch.get()->finished_at);
  const auto found = owners().inspect();
  EXPECT_TRUE(std::ranges::any_of(
      found, [](const tableq::finding& each) { return each.subject == "ends"; }));
  auto manager = role_ground::as(role::manager, "parts", parts);
  EXPECT_TRUE(own.take(1).empty());
  EXPECT_TRUE(batch.get()->finished_at);
  EXPECT_EQ(owners().claim("ends").stats().ready, 1U);
  auto another = manager.claim("parts").begin_batch();
  manager.claim("parts").enqueue("waits", {.batch = another});
  EXPECT_TRUE(another.cancel());
  EXPECT_EQ(another.get()->removed, 1U);
}

TEST_P(role_of_claims, consumer_keeps_to_a_concurrency_and_lets_a_worker_run) {
  auto all = owners().claim("jobs");
  all.set_limits({.concurrency = 1});
  for (const std::string& each : numbered(3)) all.enqueue(each);
  auto working = as(role::consumer, {});
  auto from = working.claim("jobs");
  EXPECT_EQ(
      tableq::drain(from, [](const tableq::delivery&,
                             const std::stop_token&) { return tableq::handled::completed(); }),
      3U);
}

TEST_P(role_of_claims, a_worker_from_which_messages_are_hidden_reports_it_once) {
  auto all = owners().claim("jobs");
  auto working = as(role::consumer, {});
  auto from = working.claim("jobs");
  std::vector<std::string> troubles;
  std::mutex guard;
  const auto work = [&] {
    tableq::worker pool(from, [](const tableq::delivery&) {},
                        {.until_empty = true, .observe = [&](const tableq::worker_event& event) {
                           const std::scoped_lock hold(guard);
                           if (event.what == tableq::worker_event::kind::trouble)
                             troubles.emplace_back(event.why);
                         }});
    pool.join();
    return pool.counts().completed;
  };
  all.enqueue("seen");
  EXPECT_EQ(work(), 1U);
  EXPECT_TRUE(troubles.empty()) << troubles.front();
  if (!here().hide_rows(schema() + ".jobs")) GTEST_SKIP() << "this database hides no rows";
  all.enqueue("hidden");
  EXPECT_EQ(work(), 0U);
  ASSERT_EQ(troubles.size(), 1U);
  EXPECT_TRUE(contains(troubles.at(0), "row level security")) << troubles.at(0);
  EXPECT_EQ(all.stats().ready, 1U) << "the owner sees it";
}

TEST_P(role_of_claims, a_waiting_read_is_refused_where_all_messages_are_hidden) {
  auto all = owners().claim("jobs");
  all.enqueue("hidden");
  const std::string policy = "POLICY hiding ON " + schema() + ".jobs";
  if (!here().takes("CREATE " + policy + " USING (false)") ||
      !here().hide_rows(schema() + ".jobs")) {
    GTEST_SKIP() << "this database cannot tell";
  }
  auto some = as(role::consumer, {});
  EXPECT_TRUE(some.claim("jobs").take(1, {.wait = 300ms}).empty()) << "the policy may show others";
  here().sql("DROP " + policy);
  auto working = as(role::consumer, {});
  auto from = working.claim("jobs");
  EXPECT_TRUE(from.take(1).empty());
  for (int i = 0; i < 2; ++i) {
    const tableq::error failure =
        thrown_by([&] { static_cast<void>(from.take(1, {.wait = for_ever})); });
    EXPECT_EQ(failure.code(), tableq::errc::permission_denied) << failure.what();
    EXPECT_TRUE(contains(failure.what(), "row level security")) << failure.what();
  }
}

TEST_P(role_of_claims, nobody_but_an_owner_creates) {
  auto all = owners().claim("jobs");
  for (const role each : {role::producer, role::consumer, role::viewer, role::manager}) {
    auto theirs = role_ground::as(each, "jobs", {.kind = tableq::kind::claim},
                                  tableq::schema_policy::create_if_missing);
    EXPECT_CODE(permission_denied, static_cast<void>(theirs.fifo("new")))
        << tableq::to_string(each);
  }
}

TEST_P(role_of_claims, names_of_users_cannot_break_out) {
  const std::string dialect = owners().backend();
  const tableq::queue_settings fifo{};
  for (const char* bad : {"", "a\"b", "a'b", "a]b", "a[b", "a;b", "a\nb", "a`b", "{table}",
                          "x\"; DROP TABLE mail; --", "x\x7f"}) {
    EXPECT_CODE(invalid_argument,
                static_cast<void>(tableq::grants(dialect, role::producer, bad, "mail", fifo)))
        << bad;
  }
  EXPECT_CODE(invalid_argument,
              static_cast<void>(tableq::grants(dialect, role::producer, "u", "mail\"", fifo)));
  EXPECT_CODE(invalid_argument,
              static_cast<void>(tableq::grants(dialect, role::replacer, "u", "mail", fifo)));
  EXPECT_TRUE(contains(tableq::grants(dialect, role::producer, "Domain\\U ser@x", "mail", fifo),
                       "Domain\\U ser@x"));
  EXPECT_CODE(invalid_argument, tableq::parse_role("god"));
}

}  // namespace
