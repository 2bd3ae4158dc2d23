#include "crash/full_disk.hpp"
#include "crash/server_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

/// The tables of the queues are on a file system of 24 MB.
class full_tablespace : public on_own_server {
 protected:
  static void SetUpTestSuite() { begin_server("24m"); }
};

TEST_F(full_tablespace, is_told_and_work_goes_on_when_there_is_room) {
  auto db = tableq::database::open(server().url("options=-cdefault_tablespace%3Dsmall"));
  const room of{.take = [] { server().fill("1G"); }, .give = [] { server().fill({}); }};
  meet_a_full_disk(db, of);
  work_on_a_full_disk(db, of);
  report_injected("disk full", "postgresql", 2, "storage_full; went on when there was room");
}

}  // namespace
