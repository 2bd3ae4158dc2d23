#include <dlfcn.h>
#include <execinfo.h>
#if defined(TABLEQ_WITH_POSTGRESQL)
#include <libpq-fe.h>
#endif
#include <sqlite3.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>

#include <tableq/libpq.hpp>
#include <tableq/sqlite.hpp>

#include "support/backends.hpp"
#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

/// How many functions of this program are running in the thread.
int own_functions() {
  std::array<void*, 256> frames{};
  Dl_info here{};
  dladdr(reinterpret_cast<void*>(&own_functions), &here);
  const auto own = [&](void* frame) {
    Dl_info there{};
    return dladdr(frame, &there) != 0 && there.dli_fbase == here.dli_fbase;
  };
  const int depth = backtrace(frames.data(), static_cast<int>(frames.size()));
  return static_cast<int>(std::count_if(frames.begin(), frames.begin() + depth, own));
}

int note_depth(unsigned /*event*/, void* deepest, void* /*statement*/, void* /*text*/) {
  auto& most = *static_cast<int*>(deepest);
  most = std::max(most, own_functions());
  return 0;
}

/// Notes the depth when libpq writes of a message that it sends.
ssize_t note_message(void* deepest, const char* /*text*/, std::size_t size) {
  auto& most = *static_cast<int*>(deepest);
  most = std::max(most, own_functions());
  return static_cast<ssize_t>(size);
}

class way_to_the_client_library : public on_each_backend {
 protected:
  /// Watches the session that the next calls use.
  /// @param deepest null: no longer.
  void watch(int* deepest) {
    tableq::transaction tx = db().begin();
#if defined(TABLEQ_WITH_POSTGRESQL)
    if (pg_conn* const session = tableq::libpq_session_of(tx)) {
      if (deepest == nullptr) return PQuntrace(session);
      cookie_io_functions_t note{};
      note.write = note_message;
      notes_.reset(fopencookie(deepest, "w", note));
      ASSERT_NE(notes_, nullptr);
      std::setvbuf(notes_.get(), nullptr, _IONBF, 0);
      return PQtrace(session, notes_.get());
    }
#endif
    sqlite3_trace_v2(tableq::sqlite_session_of(tx), deepest == nullptr ? 0 : SQLITE_TRACE_STMT,
                     deepest == nullptr ? nullptr : note_depth, deepest);
  }

 private:
  struct closer {
    void operator()(std::FILE* open) const noexcept { std::fclose(open); }
  };
  std::unique_ptr<std::FILE, closer> notes_;
};
#if defined(TABLEQ_WITH_POSTGRESQL)
INSTANTIATE_TEST_SUITE_P(, way_to_the_client_library,
                         testing::Values(&sqlite_file_backend(), &postgresql_backend()),
                         backend_name);
#else
INSTANTIATE_TEST_SUITE_P(, way_to_the_client_library, testing::Values(&sqlite_file_backend()),
                         backend_name);
#endif

// docs/design.md has it. The optimizer makes it shorter than it is.
TEST_P(way_to_the_client_library, is_short) {
  auto mail = db().fifo("mail");
  auto jobs = db().claim("jobs");
  mail.enqueue("first");  // each asks for the limits of its queue
  jobs.enqueue("first");
  static_cast<void>(jobs.take(1));
  int deepest = 0;
  watch(&deepest);
  const int here_and_in_the_note = own_functions() + 1;
  deepest = 0;
  mail.enqueue("hello");
  EXPECT_GT(deepest, here_and_in_the_note);
  EXPECT_LE(deepest - here_and_in_the_note, 20);
  deepest = 0;
  jobs.enqueue("hello");
  const auto taken = jobs.take(1);
  EXPECT_LE(deepest - here_and_in_the_note, 25);
  deepest = 0;
  static_cast<void>(jobs.complete(taken.at(0)));
  EXPECT_LE(deepest - here_and_in_the_note, 25);
  watch(nullptr);
}

}  // namespace
