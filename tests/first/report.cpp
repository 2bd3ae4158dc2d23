#include "first/report.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <stdexcept>
#include <utility>

#include <tableq/error.hpp>

#include "support/text.hpp"

namespace tableq_test::first {
namespace {

/// `%2F` for `%2f`: addresses may have both.
std::string upper_escapes(std::string text) {
  for (std::size_t at = text.find('%'); at != std::string::npos; at = text.find('%', at + 1)) {
    for (std::size_t i = at + 1; i < std::min(at + 3, text.size()); ++i) {
      text[i] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[i])));
    }
  }
  return text;
}

/// A short secret is only replaced where it is a word: the letter `a` would be everywhere.
std::string replaced_in(std::string text, const std::string& secret, const std::string& with) {
  if (secret.size() >= 3) return replaced(std::move(text), secret, with);
  const auto in_word = [&](std::size_t at) {
    return at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  for (std::size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at)) {
    // Before the first character is no place.
    const bool whole = !in_word(at - 1) && !in_word(at + secret.size());
    if (whole) text.replace(at, secret.size(), with);
    at += whole ? with.size() : 1;
  }
  return text;
}

}  // namespace

report::report(std::string path, const sqlserver_address& of) : path_(std::move(path)) {
  hide(of.password, "<password>");
  hide(of.user, "<user>");
  hide(of.host.substr(0, of.host.find_first_of(":\\")), "<host>");
  hide(of.database, "<database>");
  for (const auto& [key, value] : of.settings) {
    if (key == "instance" || key == "application_name") hide(value, "<" + key + ">");
  }
  const std::size_t slash = of.host.find('\\');
  if (slash != std::string::npos) hide(of.host.substr(slash + 1), "<instance>");
}

void report::hide(const std::string& secret, const std::string& with) {
  if (secret.empty()) return;
  const std::string encoded = percent_encoded(secret);
  for (const std::string& form : {secret, encoded, upper_escapes(encoded)}) {
    secrets_.emplace_back(form, with);
  }
  std::stable_sort(secrets_.begin(), secrets_.end(), [](const auto& one, const auto& other) {
    return one.first.size() > other.first.size();
  });
}

void report::write(std::string text) {
  for (const auto& [secret, with] : secrets_) text = replaced_in(std::move(text), secret, with);
  std::ofstream out(path_, std::ios::app);
  out << text << '\n' << std::flush;
  if (!out) throw std::runtime_error("cannot write the report");
}

void report::attempt(const std::string& what, const std::function<void()>& part) {
  try {
    part();
  } catch (const std::exception& failure) {
    finding(what + ": " + with_number(failure));
  }
}

std::string with_number(const std::exception& failure) {
  const auto* own = dynamic_cast<const tableq::error*>(&failure);
  if (own == nullptr || own->native() == 0) return failure.what();
  return std::string(failure.what()) + " (number " + std::to_string(own->native()) + ")";
}

void report::end() {
  std::ifstream in(path_);
  std::size_t findings = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("  FINDING ")) ++findings;
  }
  write("\n== end\n  " + std::to_string(findings) + (findings == 1 ? " finding" : " findings") +
        ". Please read this file and send it with a report of an issue, also without "
        "findings.");
}

}  // namespace tableq_test::first
