#pragma once

namespace tableq::inline v0::core {

/// A descriptor that is readable while it is raised.
///
/// @par Thread safety
/// Shared objects: unsafe, except get.
class ready_descriptor {
 public:
  /// @throws error errc::busy, errc::unsupported.
  ready_descriptor();
  ready_descriptor(const ready_descriptor&) = delete;
  ready_descriptor& operator=(const ready_descriptor&) = delete;
  ~ready_descriptor();

  [[nodiscard]] int get() const noexcept { return reading_; }
  void raise() noexcept;
  void lower() noexcept;

 private:
  int reading_ = -1;
  int writing_ = -1;
  bool raised_ = false;
};

}  // namespace tableq::inline v0::core
