#pragma once

#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "support/sqlserver_client.hpp"

namespace tableq_test::first {

/// The file that a person sends. Each line is written at once, so that an interrupt leaves all
/// before it. Passwords, users, hosts and the database's name are replaced in all that is written,
/// whoever wrote it.
class report {
 public:
  /// Continues a file that is there.
  report(std::string path, const sqlserver_address& of);

  /// Replaces this too from now on.
  void hide(const std::string& secret, const std::string& with);

  void step(std::string_view name) { write("\n== " + std::string(name)); }
  void note(const std::string& line) { write("  " + line); }
  /// A difference from what is wanted.
  void finding(const std::string& what) { write("  FINDING " + what); }
  /// Runs a part; its exception is a finding.
  void attempt(const std::string& what, const std::function<void()>& part);
  /// The number of findings, and a sentence on what to do with the file.
  void end();

 private:
  void write(std::string text);

  std::string path_;
  /// Each secret in all the forms in which it may come, longest first, with its replacement.
  std::vector<std::pair<std::string, std::string>> secrets_ = {};
};

/// What a failure says; with the server's number, which a sentence of tableq's own does not have.
std::string with_number(const std::exception& failure);

}  // namespace tableq_test::first
