#include "crash/proxy.hpp"

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <utility>

// Its fences are disabled: GCC's thread sanitizer does not support them, and each context here has
// one thread.
#define BOOST_ASIO_DISABLE_FENCED_BLOCK  // NOLINT(readability-identifier-naming)
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

namespace tableq_test {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

/// One client and its server. Lives while an operation on it is active.
class link : public std::enable_shared_from_this<link> {
 public:
  link(tcp::socket client, const std::function<proxy::fate(std::string_view)>& decide,
       std::atomic<std::size_t>& cuts)
      : client_(std::move(client)), server_(client_.get_executor()), decide_(decide), cuts_(cuts) {}

  void begin(std::uint16_t port) {
    const tcp::endpoint there(asio::ip::address_v4::loopback(), port);
    server_.async_connect(there, [self = shared_from_this()](const error_code& failed) {
      if (failed) return self->end();
      error_code ignored;
      self->client_.set_option(tcp::no_delay(true), ignored);
      self->server_.set_option(tcp::no_delay(true), ignored);
      self->from_client();
      self->from_server();
    });
  }

 private:
  void from_client() {
    client_.async_read_some(
        asio::buffer(up_), [self = shared_from_this()](const error_code& failed, std::size_t size) {
          // The client has closed the session, and does not wait for the answer to be lost.
          if (failed) return self->deaf_ ? self->cut() : self->end();
          const std::string_view piece(self->up_.data(), size);
          const proxy::fate fate = self->deaf_ ? proxy::fate::pass : self->decide_(piece);
          if (fate == proxy::fate::cut_before) return self->cut();
          if (fate == proxy::fate::cut_after) self->deaf_ = true;
          asio::async_write(self->server_, asio::buffer(self->up_.data(), size),
                            [self](const error_code& unsent, std::size_t /*size*/) {
                              unsent ? self->end() : self->from_client();
                            });
        });
  }

  void from_server() {
    server_.async_read_some(asio::buffer(down_), [self = shared_from_this()](
                                                     const error_code& failed, std::size_t size) {
      if (failed) return self->deaf_ ? self->cut() : self->end();
      const bool begun = self->begun_;
      const bool ready = self->is_ready(size);
      // The server has executed everything; before the session begins it answers differently.
      if (self->deaf_ && (ready || !begun)) return self->cut();
      if (self->deaf_) return self->from_server();
      asio::async_write(self->client_, asio::buffer(self->down_.data(), size),
                        [self](const error_code& unsent, std::size_t /*size*/) {
                          unsent ? self->end() : self->from_server();
                        });
    });
  }

  /// Whether the server's data contain ReadyForQuery. Notifications may follow it.
  bool is_ready(std::size_t size) {
    // A refusal of TLS is one letter, and no message.
    if (size == 1 && !begun_ && header_.empty() && left_ == 0) return false;
    bool ready = false;
    for (const char each : std::string_view(down_.data(), size)) {
      if (left_ > 0) {
        --left_;
        continue;
      }
      header_ += each;
      constexpr std::size_t length = 5;
      if (header_.size() < length) continue;
      std::size_t told = 0;
      for (std::size_t i = 1; i < length; ++i) {
        told = told << 8U | static_cast<unsigned char>(header_[i]);
      }
      left_ = told - (length - 1);
      ready = ready || header_.front() == 'Z';
      header_.clear();
    }
    begun_ = begun_ || ready;
    return ready;
  }

  void cut() {
    if (!std::exchange(cut_, true)) ++cuts_;
    end();
  }
  void end() {
    error_code ignored;
    client_.close(ignored);
    server_.close(ignored);
  }

  tcp::socket client_;
  tcp::socket server_;
  const std::function<proxy::fate(std::string_view)>& decide_;
  std::atomic<std::size_t>& cuts_;
  std::array<char, 65536> up_{};
  std::array<char, 65536> down_{};
  // The server's message: type letter and length field; the length excludes the letter.
  std::string header_;
  std::size_t left_ = 0;  // bytes of the message that have not come yet
  bool begun_ = false;
  bool deaf_ = false;
  bool cut_ = false;
};

}  // namespace

class proxy::network {
 public:
  explicit network(std::uint16_t server)
      : server_(server),
        acceptor_(context_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)),
        port_(acceptor_.local_endpoint().port()) {
    accept();
    thread_ = std::jthread([this] { context_.run(); });
  }
  network(const network&) = delete;
  network& operator=(const network&) = delete;
  ~network() {
    context_.stop();
    thread_.join();
  }

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::size_t cuts() const { return cuts_; }
  void decide(judge by) {
    asio::post(context_, [this, by = std::move(by)]() mutable { by_ = std::move(by); });
  }

 private:
  void accept() {
    acceptor_.async_accept([this](const error_code& failed, tcp::socket client) {
      if (failed) return;
      std::make_shared<link>(std::move(client), asked_, cuts_)->begin(server_);
      accept();
    });
  }

  const std::uint16_t server_;
  std::atomic<std::size_t> cuts_ = 0;
  // The members below belong to the proxy's thread.
  judge by_;
  const judge asked_ = [this](std::string_view piece) { return by_ ? by_(piece) : fate::pass; };
  asio::io_context context_;
  tcp::acceptor acceptor_;
  std::uint16_t port_;
  std::jthread thread_;
};

proxy::proxy(std::uint16_t server) : network_(std::make_unique<network>(server)) {}
proxy::~proxy() = default;

std::uint16_t proxy::port() const {
  return network_->port();
}

void proxy::decide(judge by) {
  network_->decide(std::move(by));
}

void proxy::cut_next(fate how) {
  decide([how, done = false](std::string_view /*piece*/) mutable {
    return std::exchange(done, true) ? fate::pass : how;
  });
}

std::size_t proxy::cuts() const {
  return network_->cuts();
}

}  // namespace tableq_test
