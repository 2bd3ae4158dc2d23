// An application that gives tableq a session of another SOCI: it must not compile.
#include <tableq/soci.hpp>

#include <soci/soci.h>

int main() {}
