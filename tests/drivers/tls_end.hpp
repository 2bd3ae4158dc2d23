#pragma once

#include <stdexcept>
#include <string>

#include "support/process.hpp"

namespace tableq_test {

/// A TLS end before a server on this machine, with a certificate that nobody signed.
class tls_end {
 public:
  explicit tls_end(int server)
      : process_({"/usr/bin/env", "python3", TABLEQ_TLS_END, std::to_string(server)}) {
    if (!process_.has_written(1)) throw std::runtime_error("tls_end.py needs python3 and openssl");
    port_ = process_.lines().at(0).dump();
  }
  [[nodiscard]] const std::string& port() const { return port_; }

 private:
  process process_;
  std::string port_;
};

}  // namespace tableq_test
