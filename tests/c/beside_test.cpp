// A program with the C++ library and a SOCI of its own loads the C library, uses both, and forks:
// beside_test LIBRARY FOLDER
#include <dlfcn.h>
#include <soci/soci.h>
#include <soci/sqlite3/soci-sqlite3.h>
#include <sys/wait.h>
#include <tableq.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include <tableq/tableq.hpp>

namespace {

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "failed: %s\n", what);
  std::_Exit(1);
}

/// The functions of the loaded library that this program uses.
struct c_library {
  explicit c_library(const char* path) : handle(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (handle == nullptr) std::fprintf(stderr, "%s\n", dlerror());
    expect(handle != nullptr, "the library loads");
  }
  template <class Function>
  Function* find(const char* name) const {
    void* const found = dlsym(handle, name);
    expect(found != nullptr, name);
    return reinterpret_cast<Function*>(found);
  }
  void* handle;
};
#define CALL(name) library.find<decltype(name)>(#name)

class c_queue {
 public:
  c_queue(const c_library& c, const std::string& url) : library(c) {
    expect(CALL(tq_database_open)(url.c_str(), TQ_NUL, nullptr, &db_, nullptr) == TQ_OK, "C opens");
    expect(CALL(tq_queue_open)(db_, "jobs", TQ_NUL, "claim", nullptr, &queue_, nullptr) == TQ_OK,
           "C opens a queue");
  }
  c_queue(const c_queue&) = delete;
  c_queue& operator=(const c_queue&) = delete;
  ~c_queue() {
    CALL(tq_queue_close)(queue_);
    CALL(tq_database_close)(db_);
  }
  int put() const {
    return CALL(tq_enqueue)(queue_, nullptr, "x", 1, nullptr, nullptr, nullptr, nullptr);
  }
  void work() const {
    expect(put() == TQ_OK, "C puts");
    tq_result* taken = nullptr;
    expect(CALL(tq_take)(queue_, nullptr, 1, nullptr, &taken, nullptr) == TQ_OK, "C takes");
    std::size_t size = 0;
    const char* const receipt = CALL(tq_result_bytes)(taken, 0, "receipt", &size);
    int outcome = TQ_OUTCOME_LEASE_LOST;
    CALL(tq_complete)(queue_, nullptr, receipt, size, &outcome, nullptr);
    CALL(tq_result_free)(taken);
    expect(outcome == TQ_OUTCOME_APPLIED, "C completes");
  }
  /// Exceptions of the library, of its SOCI and of its SQLite end in the library.
  void fail() const {
    tq_database* none = nullptr;
    expect(CALL(tq_database_open)("sqlite:///no/such/folder/a.db", TQ_NUL, nullptr, &none,
                                  nullptr) != TQ_OK,
           "C refuses a file that cannot be");
  }

 private:
  const c_library& library;
  tq_database* db_ = nullptr;
  tq_queue* queue_ = nullptr;
};

void work(tableq::claim_queue jobs) {
  jobs.enqueue("x");
  const auto taken = jobs.take_one();
  expect(taken && jobs.complete(*taken) == tableq::settle_result::applied, "C++ works");
  try {
    auto none = tableq::database::open("sqlite:///no/such/folder/a.db");
    expect(false, "C++ refuses a file that cannot be");
  } catch (const tableq::error&) {  // As it should.
  }
}

}  // namespace

int main(int argc, char** argv) {
  expect(argc == 3, "usage: beside_test LIBRARY FOLDER");
  const std::string folder = argv[2];
  soci::session own(soci::sqlite3, folder + "/own.db");
  own << "CREATE TABLE t (n integer)";
  auto db = tableq::database::open("sqlite://" + folder + "/cpp.db");
  const c_library library(argv[1]);
  const c_queue in_c(library, "sqlite://" + folder + "/c.db");
  {
    std::jthread other([&] {
      for (int i = 0; i < 50; ++i) in_c.work();
    });
    for (int i = 0; i < 50; ++i) work(db.claim("jobs"));
  }
  in_c.fail();
  own << "INSERT INTO t VALUES (1)";

  const pid_t child = fork();
  if (child == 0) {
    expect(in_c.put() == TQ_ERROR_INVALID_ARGUMENT, "C refuses a handle of the parent");
    try {
      db.claim("jobs").enqueue("x");
      expect(false, "C++ refuses an object of the parent");
    } catch (const tableq::error& refused) {
      expect(refused.code() == tableq::errc::invalid_argument, "it is told why");
    }
    auto mine = tableq::database::open("sqlite://" + folder + "/child_cpp.db");
    work(mine.claim("jobs"));
    c_queue(library, "sqlite://" + folder + "/child_c.db").work();
    std::_Exit(0);
  }
  int status = -1;
  expect(waitpid(child, &status, 0) == child && status == 0, "the child ends well");
  in_c.work();
  work(db.claim("jobs"));
  int rows = 0;
  own << "SELECT count(*) FROM t", soci::into(rows);
  expect(rows == 1, "the program's SOCI works");
  std::puts("passed");
}
