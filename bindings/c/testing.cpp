#include "testing.h"

#include <tableq/testing.hpp>

#include "options.hpp"

int tq_testing_set_clock(tq_options* options, int64_t (*now)(void* context), void* context,
                         void (*end)(void* context), tq_error** error) {
  return tableq_c::calling(error, [&] {
    auto* const open = std::get_if<tableq_c::open_values>(&tableq_c::checked(options).values);
    if (open == nullptr || now == nullptr) tableq_c::refuse("a clock is for options TQ_FOR_OPEN");
    const std::shared_ptr<void> kept(context, [end](void* each) {
      if (end != nullptr) end(each);
    });
    open->clock = tableq::testing::clock_of(
        [now, kept] { return tableq::timestamp(std::chrono::milliseconds(now(kept.get()))); });
  });
}
