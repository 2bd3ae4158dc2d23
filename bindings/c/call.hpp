#pragma once

/// @file
/// For every function of the C interface: checked handles and texts, and errors as codes.

#include <tableq.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <tableq/error.hpp>

namespace tableq_c {

/// The call itself is wrong.
/// @throws tableq::error errc::invalid_argument, always.
[[noreturn]] void refuse(const std::string& sentence);

/// Keeps the memory of the last 4,096 handles that were freed from being used again. Checking
/// builds have it (TABLEQ_C_CHECKS).
void keep_freed(void* freed) noexcept;

/// The base of each handle's struct, which has `name_of_type`, for errors: tells a handle from
/// another one, and from one that was freed as long as its memory is not used again.
template <class Handle>
class handle {
 public:
  handle() = default;
  handle(const handle&) = delete;
  handle& operator=(const handle&) = delete;
  ~handle() { mark_ = 0; }

  [[nodiscard]] bool marked() const noexcept { return mark_ == mark_of_type(); }

#if defined(TABLEQ_C_CHECKS)
  static void operator delete(void* freed) noexcept {
    keep_freed(freed);
  }
#endif

 private:
  static std::uintptr_t mark_of_type() noexcept {
    static const char mark = 0;
    return reinterpret_cast<std::uintptr_t>(&mark);
  }
  // Volatile: the destructor's store must not be left out.
  volatile std::uintptr_t mark_ = mark_of_type();
};

/// The handle, or null if it is NULL or none of its type.
template <class Handle>
[[nodiscard]] Handle* usable(Handle* given) noexcept {
  return given != nullptr && given->marked() ? given : nullptr;
}
/// The handle of a call.
/// @throws tableq::error errc::invalid_argument.
template <class Handle>
[[nodiscard]] Handle& checked(Handle* given) {
  constexpr const char* name = Handle::name_of_type;
  if (given == nullptr) refuse(std::string("a ") + name + " is NULL");
  if (!given->marked()) refuse(std::string("a handle is no ") + name + ", or was freed");
  return *given;
}
/// The end of a handle's `_free` or `_close`.
template <class Handle>
void end(Handle* given) noexcept {
  delete usable(given);
}

/// A text or bytes of the caller.
/// @throws tableq::error errc::invalid_argument for NULL with a size.
[[nodiscard]] std::string_view text_of(const void* bytes, std::size_t size);
/// A word of the interface.
[[nodiscard]] std::string_view word_of(const char* word);
/// A number that may not be negative.
[[nodiscard]] std::size_t size_of(std::int64_t number, std::string_view name);
template <class Number>
[[nodiscard]] Number number_of(std::int64_t number, std::string_view name) {
  if (number < std::numeric_limits<Number>::min() || number > std::numeric_limits<Number>::max()) {
    refuse(std::string(name) + " is out of range");
  }
  return static_cast<Number>(number);
}

/// Stores the exception that is handled now. @return its code.
int told(tq_error** error) noexcept;

/// Runs `work()`. @return TQ_OK, or the code of its error.
template <class Work>
int calling(tq_error** error, Work work) noexcept {
  if (error != nullptr) *error = nullptr;
  try {
    work();
    return TQ_OK;
  } catch (...) {  // No exception leaves a C function; `told` makes a code of each.
    return told(error);
  }
}

/// Runs `work()`, which returns what the caller gets: a std::unique_ptr for a handle, else a value.
template <class Out, class Work>
int making(Out* out, tq_error** error, Work work) noexcept {
  if (out != nullptr) *out = Out();
  return calling(error, [&] {
    if (out == nullptr) refuse("the pointer for the result is NULL");
    if constexpr (std::is_pointer_v<Out>) {
      *out = work().release();
    } else {
      *out = work();
    }
  });
}
/// The same if the caller may not want the value.
template <class Out, class Work>
int telling(Out* out, tq_error** error, Work work) noexcept {
  if (out != nullptr) *out = Out();
  return calling(error, [&] {
    const Out value = work();
    if (out != nullptr) *out = value;
  });
}

}  // namespace tableq_c
