// Its `main` is in docs/drivers.md; the lint test keeps the two alike. Only compiled: the directory
// belongs to a system.
#include <iostream>
#include <tableq/tableq.hpp>
#include <tableq/unstable/dialect.hpp>

namespace {

tableq::endpoint resolve(const tableq::dialect& self, const tableq::connection_url& url) {
  if (!url.problem.empty() || url.rest.empty() || url.rest.find('/') != std::string::npos) {
    throw tableq::error(tableq::errc::invalid_argument, tableq::advice::never, "write spool://name",
                        {.backend = self.name, .operation = "connect"});
  }
  tableq::connection_url file = url;
  file.rest = "/var/spool/app/" + url.rest + ".db";
  tableq::endpoint at = tableq::find_dialect("sqlite").resolve(self, file);
  at.setup.push_back("PRAGMA cache_size = -65536");
  return at;
}

}  // namespace

// [drivers]
int main() {
  tableq::dialect spool = tableq::find_dialect("sqlite");
  spool.name = "spool";
  spool.schemes = {"spool"};
  spool.resolve = resolve;
  tableq::register_dialect(spool);

  auto db = tableq::database::open("spool://mail?synchronous=normal");
  auto mail = db.fifo("mail");
  mail.enqueue("hello");
  std::cout << db.backend() << ": " << mail.dequeue()->payload << '\n';
}
// [/drivers]
