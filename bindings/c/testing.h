#ifndef TABLEQ_C_TESTING_H
#define TABLEQ_C_TESTING_H

// Functions of the library that tests are linked with, and of no other.

#include <tableq.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Options TQ_FOR_OPEN: a clock in place of the database's.
/// @param now returns milliseconds since 1970. Called from any thread that uses the database.
/// @param end called with the context when nothing uses the clock any more. May be NULL.
TQ_API int tq_testing_set_clock(tq_options* options, int64_t (*now)(void* context), void* context,
                                void (*end)(void* context), tq_error** error);

#ifdef __cplusplus
}
#endif

#endif
