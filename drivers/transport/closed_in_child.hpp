#pragma once

namespace tableq::inline v0::drivers {

/// A descriptor that every child of fork() closes at once. Otherwise the child would keep a
/// connection or a file lock open that must end with this process.
///
/// Borrows the descriptor. Destroy this object before the descriptor is closed.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: unsafe.
class closed_in_child {
 public:
  /// @param descriptor negative: none.
  explicit closed_in_child(int descriptor);
  closed_in_child(const closed_in_child&) = delete;
  closed_in_child& operator=(const closed_in_child&) = delete;
  ~closed_in_child();

 private:
  int descriptor_;
};

}  // namespace tableq::inline v0::drivers
