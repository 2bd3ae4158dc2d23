// An application whose sources bring both together: it must not compile.
#include <soci/soci.h>

#include <tableq/tableq.hpp>

int main() {}
