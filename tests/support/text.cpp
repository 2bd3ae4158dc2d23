#include "support/text.hpp"

#include <unistd.h>

#include <atomic>
#include <random>

namespace tableq_test {
namespace {

constexpr std::string_view digits = "0123456789abcdef";

void append_hex(std::string& out, char byte) {
  const auto value = static_cast<unsigned char>(byte);
  out += digits[value >> 4U];
  out += digits[value & 15U];
}

bool unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

}  // namespace

std::string percent_encoded(std::string_view plain) {
  std::string out;
  for (const char c : plain) {
    if (unreserved(c)) {
      out += c;
    } else {
      out += '%';
      append_hex(out, c);
    }
  }
  return out;
}

std::string hex(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char c : bytes) append_hex(out, c);
  return out;
}

std::string unique_name() {
  static std::atomic<unsigned> counter{0};
  return "tq" + std::to_string(::getpid()) + "_" + std::to_string(++counter) + "_" +
         std::to_string(std::random_device{}() % 1'000'000U);
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string with_markers(std::string_view text,
                         const std::function<std::string(const std::string&)>& marker) {
  const auto in_name = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  std::string out;
  char quote = '\0';
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == ':' && at + 1 < text.size() && in_name(text[at + 1]) &&
               (at == 0 || text[at - 1] != ':')) {
      std::size_t end = at + 1;
      while (end < text.size() && in_name(text[end])) ++end;
      out += marker(std::string(text.substr(at + 1, end - at - 1)));
      at = end - 1;
      continue;
    }
    out += c;
  }
  return out;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace tableq_test
