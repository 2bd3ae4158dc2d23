// The C interface: options of any purpose with any key, of later versions too, and batches of them.
// A call fails if and only if it gives an error, gives nothing else then, and never a key's value.

#include <tableq.h>

#include <array>
#include <charconv>
#include <string>

#include "fuzz/check.hpp"

namespace {

using namespace tableq_fuzz;  // NOLINT(google-build-using-namespace): the targets' own vocabulary

/// What every call promises. Frees the error.
void expect_sound(int code, tq_error* error, std::string_view secret) {
  must((code == TQ_OK) == (error == nullptr), "a call fails if and only if it gives an error");
  must(code == tq_error_code(error), "the error has the code");
  constexpr std::size_t too_short = 8;  // Shorter texts may stand in any sentence.
  // So may words: the fuzzer finds those of the library's own.
  const bool words = secret.find_first_not_of("abcdefghijklmnopqrstuvwxyz _.,:;") == secret.npos;
  const std::string_view said = tq_error_message(error);
  must(secret.size() < too_short || words || said.find(secret) == std::string_view::npos,
       "no error quotes a value");
  tq_error_free(error);
}

/// One line: a letter for the setter, a key, and a value.
void set(tq_options* options, std::string_view line) {
  if (line.empty()) return;
  const char how = line[0];
  line.remove_prefix(1);
  const std::string key(line.substr(0, line.find(' ')));
  line.remove_prefix(line.size() > key.size() ? key.size() + 1 : key.size());
  std::int64_t number = 0;
  std::from_chars(line.data(), line.data() + line.size(), number);
  tq_error* error = nullptr;
  const char* const name = key.c_str();
  int code = TQ_OK;
  switch (how) {
    case 'b':
      code = tq_options_set_bool(options, name, static_cast<int>(number), &error);
      break;
    case 'i':
      code = tq_options_set_int(options, name, number, &error);
      break;
    case 'd':
      code = tq_options_set_double(options, name, static_cast<double>(number) / 3, &error);
      break;
    case 't':
      code = tq_options_set_text(options, name, line.data(), line.size(), &error);
      break;
    case 'y':
      code = tq_options_set_bytes(options, name, line.data(), line.size(), &error);
      break;
    case 'n':
      code = tq_options_set_decimal(options, name, line.data(), line.size(), &error);
      break;
    case 'm':
      code = tq_options_set_time(options, name, number, &error);
      break;
    case '0':
      code = tq_options_set_null(options, name, static_cast<int>(number % 100), &error);
      break;
    case 'l':
      code = tq_options_add_int(options, name, number, &error);
      break;
    case 'a':
      code = tq_options_add_text(options, name, line.data(), line.size(), &error);
      break;
    case 'h':
      code = tq_options_set_header(options, name, key.size(), line.data(), line.size(), &error);
      break;
    default:
      code = tq_options_set_stop(options, nullptr, &error);
  }
  expect_sound(code, error, line);
}

#if defined(TABLEQ_C_CHECKS)
/// Freed handles are refused, and freeing them again does nothing.
void expect_freed(tq_batch* batch, tq_options* options, std::string_view bytes) {
  must(tq_batch_add(batch, bytes.data(), bytes.size(), nullptr, nullptr) ==
           TQ_ERROR_INVALID_ARGUMENT,
       "a freed batch is refused");
  must(tq_batch_count(batch) == 0, "a freed batch has no items");
  tq_batch_free(batch);
  if (options == nullptr) return;
  set(options, bytes);
  must(tq_options_set_bool(options, "exact", 1, nullptr) == TQ_ERROR_INVALID_ARGUMENT,
       "freed options are refused");
  tq_batch* other = nullptr;
  must(tq_batch_new(&other, nullptr) == TQ_OK, "a batch is made");
  must(tq_batch_add(other, bytes.data(), bytes.size(), options, nullptr) ==
           TQ_ERROR_INVALID_ARGUMENT,
       "freed options of an item are refused");
  tq_batch_free(other);
  tq_options_free(options);
}
#endif

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  constexpr int purposes = TQ_FOR_LOOK + 3;  // Of this version, and none.
  tq_error* error = nullptr;
  tq_options* options = nullptr;
  const int made = tq_options_new(data[0] % purposes, &options, &error);
  must((made == TQ_OK) == (options != nullptr), "options are NULL after an error");
  expect_sound(made, error, {});
  must((made == TQ_OK) == (data[0] % purposes >= TQ_FOR_OPEN && data[0] % purposes <= TQ_FOR_LOOK),
       "purposes of later versions are refused");
  const std::string_view all = text_of(data + 1, size - 1);
  for (std::string_view rest = all; !rest.empty();) set(options, next_line(rest));
  if (options != nullptr && data[0] % purposes != TQ_FOR_ROW) {
    must(tq_options_set_int(options, "of_a_later_version", 1, nullptr) == TQ_ERROR_INVALID_ARGUMENT,
         "keys of later versions are refused");
  }

  tq_batch* batch = nullptr;
  must(tq_batch_new(&batch, nullptr) == TQ_OK, "a batch is made");
  for (const tq_options* each : std::array<const tq_options*, 2>{options, nullptr}) {
    error = nullptr;
    const std::size_t before = tq_batch_count(batch);
    const int added = tq_batch_add(batch, all.data(), all.size(), each, &error);
    must(tq_batch_count(batch) == before + (added == TQ_OK ? 1 : 0), "a refused item is not added");
    expect_sound(added, error, all);
  }
  for (const char* kind : {"claim", "fifo"}) {
    tq_result* text = nullptr;
    error = nullptr;
    const int code = tq_ddl("sqlite", "jobs", TQ_NUL, kind, options, nullptr, &text, &error);
    must((code == TQ_OK) == (text != nullptr), "a result is NULL after an error");
    expect_sound(code, error, {});
    tq_result_free(text);
  }
  // Without a database, and with handles of another type: refused, whatever the options are.
  tq_database* db = nullptr;
  tq_result* result = nullptr;
  int outcome = 0;
  must(tq_take(nullptr, nullptr, 1, options, &result, nullptr) == TQ_ERROR_INVALID_ARGUMENT,
       "a NULL queue is refused");
  must(tq_complete(nullptr, nullptr, all.data(), all.size(), &outcome, nullptr) ==
           TQ_ERROR_INVALID_ARGUMENT,
       "a NULL queue is refused for any receipt");
  must(tq_database_outside(reinterpret_cast<tq_database*>(batch), &db, nullptr) ==
               TQ_ERROR_INVALID_ARGUMENT &&
           db == nullptr,
       "a handle of another type is refused");
  tq_batch_free(batch);
  tq_options_free(options);
#if defined(TABLEQ_C_CHECKS)
  expect_freed(batch, options, all);
#endif
  return 0;
}
