#pragma once

// Functions of the library that tests are linked with, and of no other. Their objects are those of
// C++: test and library are of one compiler.

#include <tableq.h>

#include <memory>
#include <string_view>

#include <tableq/tableq.hpp>
#include <tableq/testing.hpp>
#include <tableq/unstable/dialect.hpp>

extern "C" {

/// Options TQ_FOR_OPEN: `clock`, `observer` and `trace` of `given`.
TQ_API int tq_testing_set_open(tq_options* options, const tableq::open_options* given,
                               tq_error** error);
/// `tq_database_open` by `faults::open`.
TQ_API int tq_testing_open(const tableq::testing::faults* faults, const char* url, size_t url_size,
                           const tq_options* options, tq_database** db, tq_error** error);
/// `find_dialect` and `register_dialect` of this library.
TQ_API int tq_testing_find_dialect(const char* name, tableq::dialect* found, tq_error** error);
TQ_API int tq_testing_register_dialect(const tableq::dialect* added, tq_error** error);

}  // extern "C"
