#include "support/tds_server.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <stdexcept>
#include <utility>

#include "support/tds_bytes.hpp"

namespace tableq_test {
namespace {

using namespace std::string_view_literals;
using recorder = std::function<void(const tds_request&)>;

constexpr std::size_t header_size = 8;
constexpr std::size_t packet_size = 4096;
constexpr std::uint16_t of_attention = 0x20;

tds_answer ask(const tds_script::handler& handler, const tds_request& asked) {
  try {
    return handler ? handler(asked) : tds_answer();
  } catch (const std::exception& failed) {
    return tds_answer().error(50000, failed.what());
  }
}

std::string change(std::uint8_t what, std::string_view values) {
  return tds_writer().token(0xE3, tds_writer().number(what).bytes(values)).all();
}

/// Version 15.0, encryption, the default instance, no thread, no MARS; each with its place and
/// length, the high byte first.
std::string greeting(std::uint8_t encryption) {
  return tds_writer()
      .bytes(
          "\0\0\x1A\0\6\1\0\x20\0\1\2\0\x21\0\1\3\0\x22\0\0\4\0\x22\0\1\xFF"
          "\x0F\0\7\xD0\0\0"sv)
      .number(encryption)
      .bytes("\0\0"sv)
      .all();
}

/// The accepted login, the server, and the initial settings of the session.
std::string welcome(const tds_login& login) {
  const auto database = tds_writer().text<std::uint8_t>(login.database).text<std::uint8_t>("");
  tds_writer inner;
  inner.bytes("\1\x74\0\0\4"sv).text<std::uint8_t>("Microsoft SQL Server").bytes("\x0F\0\7\xD0"sv);
  return change(1, database.all()) + change(7, "\5\x09\x04\xD0\0\x34\0"sv) +
         tds_writer().token(0xAD, inner).all() + tds_end(0);
}

}  // namespace

/// One connection. Owns the socket, borrows the script. `run()` takes a thread; `stop()` ends it
/// from another.
class tds_connection {
 public:
  tds_connection(int socket, std::size_t number, const tds_script& script, recorder record)
      : socket_(socket), number_(number), script_(script), record_(std::move(record)) {}
  tds_connection(const tds_connection&) = delete;
  tds_connection& operator=(const tds_connection&) = delete;
  ~tds_connection() { ::close(socket_); }

  void stop() const { ::shutdown(socket_, SHUT_RDWR); }
  /// Until one side closes the connection.
  void run() {
    if (greet()) {
      for (auto came = next(); came && handle(*came); came = next()) {
      }
    }
    stop();
  }

 private:
  struct message {
    tds_packet type{};
    std::string body;
  };

  [[nodiscard]] bool read(char* to, std::size_t size) const {
    return size == 0 || ::recv(socket_, to, size, MSG_WAITALL) == static_cast<ssize_t>(size);
  }

  [[nodiscard]] std::optional<message> next() const {
    message out;
    std::array<char, header_size> header{};
    do {
      if (!read(header.data(), header.size())) return std::nullopt;
      const auto at = [&](std::size_t i) { return static_cast<unsigned char>(header.at(i)); };
      const std::size_t size = (std::size_t{at(2)} << 8U) | at(3);
      if (size < header_size) return std::nullopt;
      std::string packet(size - header_size, '\0');
      if (!read(packet.data(), packet.size())) return std::nullopt;
      out.type = static_cast<tds_packet>(header[0]);
      out.body += packet;
    } while ((header[1] & 1) == 0);
    return out;
  }

  /// Sends so many bytes at most. @return whether the client has everything.
  bool send(std::string_view rest, bool last, std::size_t limit = std::string_view::npos) const {
    std::string all;
    for (bool ends = !last && rest.empty(); !ends;) {
      const std::string_view body = rest.substr(0, packet_size - header_size);
      rest.remove_prefix(body.size());
      ends = rest.empty();
      const std::size_t size = body.size() + header_size;
      for (const std::size_t each :
           {std::size_t{4}, std::size_t{last && ends}, size >> 8U, size & 255U, std::size_t{0},
            std::size_t{0}, std::size_t{1}, std::size_t{0}}) {
        all += static_cast<char>(each);
      }
      all += body;
    }
    const std::string_view out = std::string_view(all).substr(0, limit);
    const ssize_t gone = ::send(socket_, out.data(), out.size(), MSG_NOSIGNAL);
    return gone == static_cast<ssize_t>(all.size());
  }

  /// @return whether the client is logged in.
  bool greet() {
    auto came = next();
    if (!came || came->type != tds_packet::prelogin) return false;
    if (!send(greeting(script_.encryption), true)) return false;
    came = next();
    if (!came || came->type != tds_packet::login) return false;  // TLS
    tds_request asked = parse(came->type, came->body);
    asked.connection = number_;
    record_(asked);
    const tds_answer said = ask(script_.login, asked);
    if (said.empty()) return send(welcome(asked.login), true);
    for (bool open = play(said, false); open;) open = next().has_value();
    return false;
  }

  bool handle(const message& came) {
    tds_request asked;
    try {
      asked = parse(came.type, came.body);
      asked.connection = number_;
    } catch (const std::exception& failed) {
      return play(tds_answer().error(50000, failed.what()), false);
    }
    record_(asked);
    if (asked.kind == tds_kind::attention) return send(tds_end(of_attention), true);
    if (asked.kind == tds_kind::transaction) return end_or_begin(asked);
    return play(ask(script_.statement, asked), asked.kind == tds_kind::call);
  }

  bool play(const tds_answer& answer, bool call) {
    using ending = tds_answer::ending;
    const ending how = answer.how_it_ends();
    const std::string bytes = answer.bytes(call);
    if (!send(bytes, how == ending::done, answer.byte_limit()) || how == ending::cut) return false;
    while (how == ending::hang) {
      if (!next()) return false;
    }
    return true;
  }

  /// A transaction by messages of its own kind.
  bool end_or_begin(const tds_request& asked) {
    const bool begins = asked.procedure == "begin";
    transaction_ += begins ? 1U : 0U;
    const std::string number = tds_writer().number(std::uint8_t{8}).number(transaction_).all();
    const std::string nothing(1, '\0');
    const auto what = static_cast<std::uint8_t>(begins ? 8 : asked.procedure == "commit" ? 9 : 10);
    return send(change(what, begins ? number + nothing : nothing + number) + tds_end(0), true);
  }

  int socket_;
  std::size_t number_;
  const tds_script& script_;
  recorder record_;
  std::uint64_t transaction_ = 0;
};

tds_server::tds_server(tds_script script)
    : script_(std::move(script)), socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof place;
  auto* const at = reinterpret_cast<sockaddr*>(&place);
  if (::bind(socket_, at, size) != 0 || ::listen(socket_, SOMAXCONN) != 0 ||
      ::getsockname(socket_, at, &size) != 0) {
    throw std::runtime_error("tds: no port to listen on");
  }
  port_ = ntohs(place.sin_port);
  listener_ = std::jthread([this] { accept(); });
}

tds_server::~tds_server() {
  ::shutdown(socket_, SHUT_RDWR);
  listener_.join();
  ::close(socket_);
  cut_all();
  threads_.clear();  // waits for them
}

void tds_server::accept() {
  while (true) {
    const int socket = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) return;
    const int at_once = 1;  // Otherwise replies of several packets wait for an acknowledgement.
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    const std::lock_guard lock(guard_);
    auto& client = *guests_.emplace_back(std::make_unique<tds_connection>(
        socket, guests_.size() + 1, script_, [this](const tds_request& asked) {
          const std::lock_guard recording(guard_);
          requests_.push_back(asked);
          changed_.notify_all();
        }));
    threads_.emplace_back([&client] { client.run(); });
  }
}

std::string tds_server::connection_string(std::string_view driver) const {
  const std::string at = std::to_string(port());
  return "Driver={" + std::string(driver) + "};UID=tester;PWD=secret;Database=app;Server=" +
         (driver == "FreeTDS"
              ? "127.0.0.1;Port=" + at + ";TDS_Version=7.4;ClientCharset=UTF-8;Encryption=off"
              : "tcp:127.0.0.1," + at + ";Encrypt=no");
}

std::vector<tds_request> tds_server::requests_since(std::size_t mark) const {
  const std::lock_guard lock(guard_);
  const auto from = std::min(mark, requests_.size());
  return {requests_.begin() + static_cast<std::ptrdiff_t>(from), requests_.end()};
}

bool tds_server::received(std::size_t count, std::chrono::milliseconds limit) const {
  std::unique_lock lock(guard_);
  return changed_.wait_for(lock, limit, [&] { return requests_.size() >= count; });
}

void tds_server::cut_all() {
  const std::lock_guard lock(guard_);
  for (const auto& each : guests_) each->stop();
}

}  // namespace tableq_test
