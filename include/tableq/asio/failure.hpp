#pragma once

/// @file
/// Errors of tableq as the error codes that Asio's handlers get.

#include <string>
#include <system_error>

#include <tableq/asio/namespace.hpp>
#include <tableq/error.hpp>

namespace tableq::inline v0 {

/// The category whose numbers are those of errc. The sentence of an error goes to the observer of
/// the database. A value without members.
class errc_category final : public asio_category {
 public:
  /// `tableq`
  [[nodiscard]] const char* name() const noexcept override { return "tableq"; }
  /// The name of the code.
  [[nodiscard]] std::string message(int value) const override {
    return std::string(to_string(static_cast<errc>(value)));
  }
};

/// The one object of the category.
inline const errc_category& tableq_category() noexcept {
  static const errc_category category;
  return category;
}

/// A code as an error of Asio: `if (failure == tableq::make_asio_error(tableq::errc::queue_full))`.
inline asio_error make_asio_error(errc code) noexcept {
  return {static_cast<int>(code), tableq_category()};
}

/// The exception that is being handled, as an error of Asio. Other exceptions than tableq::error
/// are errc::internal; std::bad_alloc is not_enough_memory.
inline asio_error current_asio_error() noexcept {
  try {
    throw;
  } catch (const error& failure) {
    return make_asio_error(failure.code());
  } catch (const std::bad_alloc&) {
    return net::error::no_memory;
  } catch (...) {  // nothing else can be told by a number
    return make_asio_error(errc::internal);
  }
}

}  // namespace tableq::inline v0
