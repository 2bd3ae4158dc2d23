#include <dlfcn.h>
#include <execinfo.h>
#include <sqlite3.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

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

class way_to_the_client_library : public on_each_backend {};
INSTANTIATE_TEST_SUITE_P(, way_to_the_client_library, testing::Values(&sqlite_file_backend()),
                         backend_name);

// docs/design.md has it. The optimizer makes it shorter than it is.
TEST_P(way_to_the_client_library, is_short) {
  auto mail = db().fifo("mail");
  auto jobs = db().claim("jobs");
  mail.enqueue("first");  // each asks for the limits of its queue
  jobs.enqueue("first");
  static_cast<void>(jobs.take(1));
  int deepest = 0;
  {
    tableq::transaction tx = db().begin();
    sqlite3_trace_v2(tableq::sqlite_session_of(tx), SQLITE_TRACE_STMT, note_depth, &deepest);
    tx.rollback();
  }
  const int here_and_in_the_note = own_functions() + 1;
  deepest = 0;
  mail.enqueue("hello");
  EXPECT_GT(deepest, here_and_in_the_note);
  EXPECT_LE(deepest - here_and_in_the_note, 25);
  deepest = 0;
  jobs.enqueue("hello");
  static_cast<void>(jobs.take(1));
  EXPECT_LE(deepest - here_and_in_the_note, 25);
  tableq::transaction tx = db().begin();
  sqlite3_trace_v2(tableq::sqlite_session_of(tx), 0, nullptr, nullptr);
}

}  // namespace
