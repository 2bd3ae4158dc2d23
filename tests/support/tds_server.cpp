#include "support/tds_server.hpp"

#include <algorithm>
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

#include "support/tds_asio.hpp"
#include "support/tds_connection.hpp"

namespace tableq_test {

namespace asio = boost::asio;
using asio::ip::tcp;

class tds_server::listener {
 public:
  explicit listener(tds_script script)
      : script_(std::move(script)),
        acceptor_(context_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)),
        port_(acceptor_.local_endpoint().port()) {
    accept();
    thread_ = std::jthread([this] { context_.run(); });
  }
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;
  ~listener() {
    asio::post(context_, [this] { acceptor_.close(); });
    thread_.join();
    cut_all();
    for (guest& each : guests_) each.thread.join();
  }

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::vector<tds_request> since(std::size_t mark) const {
    const std::lock_guard lock(guard_);
    const auto from = std::min(mark, requests_.size());
    return {requests_.begin() + static_cast<std::ptrdiff_t>(from), requests_.end()};
  }
  [[nodiscard]] std::size_t mark() const {
    const std::lock_guard lock(guard_);
    return requests_.size();
  }
  [[nodiscard]] bool received(std::size_t count, std::chrono::milliseconds limit) const {
    std::unique_lock lock(guard_);
    return changed_.wait_for(lock, limit, [&] { return requests_.size() >= count; });
  }
  [[nodiscard]] std::size_t open() const {
    const std::lock_guard lock(guard_);
    return open_;
  }
  [[nodiscard]] bool left_alone(std::chrono::milliseconds limit) const {
    std::unique_lock lock(guard_);
    return changed_.wait_for(lock, limit, [this] { return open_ == 0; });
  }
  void cut_all() {
    const std::lock_guard lock(guard_);
    for (guest& each : guests_) each.connection.wire().stop();
  }

 private:
  /// A connected client, kept to the end for its thread.
  struct guest {
    guest(std::size_t number, const tds_script& script, tds_connection::recorder record)
        : connection(number, script, std::move(record)) {}
    tds_connection connection;
    std::jthread thread;
  };

  void accept() {
    next_.emplace_back(++last_number_, script_,
                       [this](const tds_request& asked) { record(asked); });
    acceptor_.async_accept(
        next_.back().connection.wire().socket(), [this](const boost::system::error_code& failed) {
          if (failed) return;
          // Otherwise replies of several packets wait for the client's acknowledgement.
          boost::system::error_code ignored;
          next_.back().connection.wire().socket().set_option(tcp::no_delay(true), ignored);
          welcome();
          accept();
        });
  }

  void welcome() {
    const std::lock_guard lock(guard_);
    guests_.splice(guests_.end(), next_);
    ++open_;
    guest& last = guests_.back();
    last.thread = std::jthread([this, &last] {
      last.connection.run();
      const std::lock_guard leaving(guard_);
      --open_;
      changed_.notify_all();
    });
  }

  void record(const tds_request& asked) {
    const std::lock_guard lock(guard_);
    requests_.push_back(asked);
    changed_.notify_all();
  }

  const tds_script script_;
  mutable std::mutex guard_;
  mutable std::condition_variable changed_;
  std::vector<tds_request> requests_;  // under guard_
  std::size_t open_ = 0;               // under guard_
  std::list<guest> guests_;            // under guard_ while listening
  // The members below belong to the listening thread.
  std::list<guest> next_;
  std::size_t last_number_ = 0;
  asio::io_context context_;
  tcp::acceptor acceptor_;
  std::uint16_t port_;
  std::jthread thread_;
};

tds_server::tds_server(tds_script script)
    : listener_(std::make_unique<listener>(std::move(script))) {}

tds_server::tds_server(tds_script::handler statement)
    : tds_server(tds_script{.statement = std::move(statement)}) {}

tds_server::~tds_server() = default;

std::uint16_t tds_server::port() const {
  return listener_->port();
}

std::string tds_server::connection_string() const {
  return "Driver=FreeTDS;Server=127.0.0.1;Port=" + std::to_string(port()) +
         ";UID=tester;PWD=secret;Database=app;TDS_Version=7.4;ClientCharset=UTF-8;Encryption=off";
}

std::vector<tds_request> tds_server::requests() const {
  return listener_->since(0);
}

std::size_t tds_server::mark() const {
  return listener_->mark();
}

std::vector<tds_request> tds_server::requests_since(std::size_t mark) const {
  return listener_->since(mark);
}

bool tds_server::received(std::size_t count, std::chrono::milliseconds limit) const {
  return listener_->received(count, limit);
}

std::size_t tds_server::open_connections() const {
  return listener_->open();
}

bool tds_server::left_alone(std::chrono::milliseconds limit) const {
  return listener_->left_alone(limit);
}

void tds_server::cut_all() {
  listener_->cut_all();
}

}  // namespace tableq_test
