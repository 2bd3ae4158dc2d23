#include <soci/soci.h>

namespace soci {

session::session() {
  content_.fill(42);
}
session::~session() {
  content_.fill(0);
}

}  // namespace soci
