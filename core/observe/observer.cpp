#include <tableq/observer.hpp>

namespace tableq::inline v0 {

observer::~observer() = default;
void observer::before(const observed_operation& /*operation*/) {}
void observer::after(const observed_operation& /*operation*/, const operation_result& /*result*/) {}
void observer::retrying(const observed_operation& /*operation*/, const operation_retry& /*retry*/) {
}
void observer::leases_lost(const observed_operation& /*operation*/, std::size_t /*count*/) {}
void observer::counted(const observed_operation& /*operation*/, const claim_stats& /*stats*/) {}
void observer::handled(const handled_message& /*message*/) {}
void observer::warned(std::string_view /*backend*/, std::string_view /*what*/) {}
void observer::session_opened(std::string_view /*backend*/, std::chrono::nanoseconds /*duration*/) {
}
void observer::session_closed(std::string_view /*backend*/, bool /*broken*/) {}

}  // namespace tableq::inline v0
