#include "core/seam/named.hpp"

namespace tableq::inline v0::core {
namespace {

/// The sentence, without the names in front.
std::string sentence_of(const error& failure) {
  std::string_view text = failure.what();
  for (const std::string* part : {&failure.backend(), &failure.operation()}) {
    if (!part->empty()) text.remove_prefix(part->size() + std::string_view(": ").size());
  }
  return std::string(text);
}

std::string first_given(const std::string& given, std::string_view fallback) {
  return given.empty() ? std::string(fallback) : given;
}

}  // namespace

void refuse(const std::string& sentence) {
  throw error(errc::invalid_argument, advice::never, sentence);
}

bool located(const error& failure, std::string_view backend, std::string_view operation) noexcept {
  return failure.operation() == operation && (!failure.backend().empty() || backend.empty());
}

error locate(const error& failure, std::string_view backend, std::string_view operation) {
  std::string sentence = sentence_of(failure);
  if (!failure.operation().empty() && failure.operation() != operation) {
    sentence.insert(0, failure.operation() + ": ");
  }
  return {failure.code(),
          failure.advice(),
          sentence,
          {.backend = first_given(failure.backend(), backend),
           .operation = std::string(operation),
           .sqlstate = failure.sqlstate(),
           .native = failure.native()}};
}

}  // namespace tableq::inline v0::core
