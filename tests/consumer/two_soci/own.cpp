#include <soci/soci.h>

void use_own_soci() {
  const soci::session own;
}
