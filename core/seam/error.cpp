#include <tableq/error.hpp>

#include <utility>

namespace tableq::inline v0 {
namespace {

std::string compose(const std::string& sentence, const error_origin& origin) {
  std::string out;
  for (const std::string* part : {&origin.backend, &origin.operation}) {
    if (!part->empty()) out += *part + ": ";
  }
  return out + sentence;
}

}  // namespace

error::error(errc code, tableq::advice advice, const std::string& sentence, error_origin origin)
    : std::runtime_error(compose(sentence, origin)),
      code_(code),
      advice_(advice),
      origin_(std::move(origin)) {}

}  // namespace tableq::inline v0
