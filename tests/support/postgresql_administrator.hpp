#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "support/postgresql_address.hpp"
#include "support/postgresql_client.hpp"

namespace tableq_test {

/// A client of a server. The session of a place that is gone serves the next one: to open
/// a session, and to read the catalogue in it, costs the server more than the statements of a test.
class administrator {
 public:
  explicit administrator(std::string address)
      : address_(std::move(address)), client_(idle_sessions().taken(address_)) {
    if (!client_) client_ = std::make_unique<postgresql_client>(address_);
  }
  administrator(const administrator&) = delete;
  administrator& operator=(const administrator&) = delete;
  ~administrator() {
    try {
      client_->run("DISCARD ALL");
      idle_sessions().keep(address_, std::move(client_));
    } catch (const std::exception&) {
      // The session is lost, or in a transaction: it ends here.
    }
  }

  rows run(const std::string& text) { return client_->run(text); }
  [[nodiscard]] settings parameters_of_session() const { return client_->settings(); }

 private:
  class idle {
   public:
    std::unique_ptr<postgresql_client> taken(const std::string& address) {
      const std::scoped_lock lock(mutex_);
      auto& there = of_this_process()[address];
      if (there.empty()) return {};
      auto out = std::move(there.back());
      there.pop_back();
      return out;
    }
    void keep(const std::string& address, std::unique_ptr<postgresql_client> client) {
      const std::scoped_lock lock(mutex_);
      of_this_process()[address].push_back(std::move(client));
    }

   private:
    using by_address = std::map<std::string, std::vector<std::unique_ptr<postgresql_client>>>;
    by_address& of_this_process() { return by_process_[getpid()]; }

    std::mutex mutex_;
    std::map<pid_t, by_address> by_process_;
  };
  /// Never destroyed: a forked child that ends must not end the sessions of its parent.
  static idle& idle_sessions() {
    static idle& only = *new idle;
    return only;
  }

  std::string address_;
  std::unique_ptr<postgresql_client> client_;
};

}  // namespace tableq_test
