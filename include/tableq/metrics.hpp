#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tableq/export.hpp>
#include <tableq/fwd.hpp>
#include <tableq/observer.hpp>

namespace tableq::inline v0 {

/// Options of `metrics`.
struct metrics_options {
  /// The upper bounds of the histograms' buckets, rising, 1 to 64 of them, positive.
  std::vector<std::chrono::microseconds> buckets = {
      std::chrono::microseconds{100},      std::chrono::microseconds{250},
      std::chrono::microseconds{500},      std::chrono::microseconds{1'000},
      std::chrono::microseconds{2'500},    std::chrono::microseconds{5'000},
      std::chrono::microseconds{10'000},   std::chrono::microseconds{25'000},
      std::chrono::microseconds{50'000},   std::chrono::microseconds{100'000},
      std::chrono::microseconds{250'000},  std::chrono::microseconds{1'000'000},
      std::chrono::microseconds{5'000'000}};
};

/// An observer that counts: operations, their durations, messages, errors and retries by queue and
/// operation; lost leases and a worker's results by queue; sessions by backend. And it keeps the
/// numbers of dead messages that the last `stats` of each queue found. docs/observing.md lists the
/// figures.
///
/// Owns its figures. They begin at zero with the object, and only grow, but for those of `stats`;
/// those of a queue end when one of the database objects drops it. Several database objects may use
/// one metrics object; queues of the same name, kind and backend then share their figures. An
/// object inherited through fork() counts nothing in the child: the child makes its own.
///
/// @par Thread safety
/// Shared objects: safe. Counting threads rarely wait for each other; a reading thread blocks a
/// counting one only while it copies that thread's figures.
class TABLEQ_EXPORT metrics : public observer {
 public:
  /// @throws error errc::invalid_argument for buckets that do not rise, or too many.
  explicit metrics(const metrics_options& options = {});
  ~metrics() override;

  /// The figures in the text exposition format of Prometheus, version 0.0.4. Serve it as
  /// `text/plain; version=0.0.4; charset=utf-8`.
  [[nodiscard]] std::string prometheus() const;
  /// The same figures as one JSON object. Durations are in seconds.
  [[nodiscard]] std::string json() const;

  void after(const observed_operation& operation, const operation_result& result) override;
  void retrying(const observed_operation& operation, const operation_retry& retry) override;
  void leases_lost(const observed_operation& operation, std::size_t count) override;
  void counted(const observed_operation& operation, const claim_stats& stats) override;
  void handled(const handled_message& message) override;
  void session_opened(std::string_view backend, std::chrono::nanoseconds duration) override;
  void session_closed(std::string_view backend, bool broken) override;

 private:
  std::unique_ptr<core::metric_store> store_;
};

}  // namespace tableq::inline v0
