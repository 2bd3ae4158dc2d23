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

std::string without_port(const std::string& host) {
  return host.substr(0, host.find_first_of(":\\"));
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

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
  constexpr std::size_t short_one = 3;
  if (secret.size() >= short_one) return replaced(std::move(text), secret, with);
  for (std::size_t at = text.find(secret); at != std::string::npos;
       at = text.find(secret, at + 1)) {
    const std::size_t end = at + secret.size();
    const bool whole =
        (at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]));
    if (!whole) continue;
    text.replace(at, secret.size(), with);
    at += with.size() - 1;
  }
  return text;
}

}  // namespace

report::report(std::string path, const sqlserver_address& of) : path_(std::move(path)) {
  hide(of.password, "<password>");
  hide(of.user, "<user>");
  hide(without_port(of.host), "<host>");
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

std::string report::redacted(std::string text) const {
  for (const auto& [secret, with] : secrets_) text = replaced_in(std::move(text), secret, with);
  return text;
}

void report::write(const std::string& text) {
  std::ofstream out(path_, std::ios::app);
  out << redacted(text) << '\n' << std::flush;
  if (!out) throw std::runtime_error("cannot write the report");
}

void report::step(std::string_view name) {
  write("\n== " + std::string(name));
}

void report::note(const std::string& line) {
  write("  " + line);
}

void report::finding(const std::string& what) {
  write("  FINDING " + what);
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
