#include <array>
#include <cstring>
#include <mutex>

#include <tableq/tableq.hpp>

#include "call.hpp"

struct tq_error : tableq_c::handle<tq_error> {
  static constexpr const char* name_of_type = "tq_error";
  int code = TQ_ERROR_INTERNAL;
  int advice = TQ_ADVICE_NEVER;
  int native = 0;
  std::string message = {};
  std::string operation = {};
  std::string backend = {};
  std::string sqlstate = {};
};

namespace tableq_c {
namespace {

/// Made at the start of the program or of dlopen, and never freed.
tq_error& lasting(int code, const char* message) {
  auto made = std::make_unique<tq_error>();
  made->code = code;
  made->message = message;
  return *made.release();
}
tq_error& no_memory = lasting(TQ_ERROR_NO_MEMORY, "out of memory");
const tq_error& no_error = lasting(TQ_OK, "");

const tq_error& known(const tq_error* error) noexcept {
  return usable(error) == nullptr ? no_error : *error;
}

int store(tq_error** error, const tableq::error& failure) {
  const int code = static_cast<int>(failure.code());
  if (error == nullptr) return code;
  auto made = std::make_unique<tq_error>();
  made->code = code;
  made->advice = static_cast<int>(failure.advice());
  made->native = failure.native();
  made->message = failure.what();
  made->operation = failure.operation();
  made->backend = failure.backend();
  made->sqlstate = failure.sqlstate();
  *error = made.release();
  return code;
}

int store_no_memory(tq_error** error) noexcept {
  if (error != nullptr) *error = &no_memory;
  return TQ_ERROR_NO_MEMORY;
}

}  // namespace

void keep_freed(void* freed) noexcept {
  constexpr std::size_t most = 4096;
  static std::mutex mutex;
  static std::array<void*, most> kept{};
  static std::size_t next = 0;
  {
    const std::scoped_lock hold(mutex);
    std::swap(kept.at(next), freed);
    next = (next + 1) % most;
  }
  ::operator delete(freed);
}

void refuse(const std::string& sentence) {
  throw tableq::error(tableq::errc::invalid_argument, tableq::advice::never, sentence);
}

std::string_view text_of(const void* bytes, std::size_t size) {
  const auto* const first = static_cast<const char*>(bytes);
  if (first == nullptr) {
    if (size != 0) refuse("a text or payload is NULL; give a pointer, or the size 0");
    return {};
  }
  if (size == TQ_NUL) return first;
  if (size > PTRDIFF_MAX) refuse("a text or payload is longer than any memory");
  return {first, size};
}
std::string_view word_of(const char* word) {
  if (word == nullptr) refuse("a kind, state, key, format, dialect or role is NULL; give its word");
  return word;
}
std::size_t size_of(std::int64_t number, std::string_view name) {
  if (number < 0) refuse(std::string(name) + " is below zero");
  return static_cast<std::size_t>(number);
}

int told(tq_error** error) noexcept {
  try {
    try {
      throw;
    } catch (const tableq::error& failure) {
      return store(error, failure);
    } catch (const std::bad_alloc&) {
      return store_no_memory(error);
    } catch (...) {  // No rule covers it, and its text may hold data.
      return store(error, {tableq::errc::internal, tableq::advice::never,
                           "an exception of an unknown type; please report it"});
    }
  } catch (...) {  // There was no memory for the error.
    return store_no_memory(error);
  }
}

}  // namespace tableq_c

using namespace tableq_c;

int tq_error_code(const tq_error* error) {
  return known(error).code;
}
int tq_error_advice(const tq_error* error) {
  return known(error).advice;
}
int tq_error_retryable(const tq_error* error) {
  return static_cast<int>(known(error).advice != TQ_ADVICE_NEVER);
}
const char* tq_error_message(const tq_error* error) {
  return known(error).message.c_str();
}
const char* tq_error_operation(const tq_error* error) {
  return known(error).operation.c_str();
}
const char* tq_error_backend(const tq_error* error) {
  return known(error).backend.c_str();
}
const char* tq_error_sqlstate(const tq_error* error) {
  return known(error).sqlstate.c_str();
}
int tq_error_native(const tq_error* error) {
  return known(error).native;
}
void tq_error_free(tq_error* error) {
  if (error != &no_memory) end(error);
}

const char* tq_code_name(int code) {
  if (code == TQ_OK) return "ok";
  if (code == TQ_ERROR_NO_MEMORY) return "no_memory";
  return to_string(static_cast<tableq::errc>(code)).data();
}
const char* tq_advice_name(int advice) {
  return to_string(static_cast<tableq::advice>(advice)).data();
}
const char* tq_version(void) {
#define TABLEQ_TEXT_OF(number) #number
#define TABLEQ_VERSION_TEXT(major, minor, patch) \
  TABLEQ_TEXT_OF(major) "." TABLEQ_TEXT_OF(minor) "." TABLEQ_TEXT_OF(patch)
  return TABLEQ_VERSION_TEXT(TABLEQ_VERSION_MAJOR, TABLEQ_VERSION_MINOR, TABLEQ_VERSION_PATCH);
}
