#include "support/tds_wire.hpp"

#include <algorithm>

namespace tableq_test {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr unsigned last_bit = 1;
constexpr unsigned ignore_bit = 2;

unsigned byte_at(const std::array<char, 8>& header, std::size_t at) {
  return static_cast<unsigned char>(header.at(at));
}

}  // namespace

tds_wire::tds_wire() : work_(context_.get_executor()), socket_(context_) {}

std::optional<tds_message> tds_wire::next() {
  if (!run_until([this] { return !inbox_.empty() || !open_; })) close();
  if (inbox_.empty()) return std::nullopt;
  tds_message first = std::move(inbox_.front());
  inbox_.pop_front();
  return first;
}

bool tds_wire::send(tds_packet type, bool last, std::string_view body, std::size_t limit) {
  const std::size_t size = header_size + body.size();
  std::string packet;
  packet.reserve(size);
  packet += static_cast<char>(type);
  packet += static_cast<char>(last ? last_bit : 0);
  packet += static_cast<char>((size >> 8U) & 255U);
  packet += static_cast<char>(size & 255U);
  packet.append(2, '\0');
  packet += static_cast<char>(++sent_);
  packet += '\0';
  packet += body;

  bool written = false;
  asio::async_write(socket_, asio::buffer(packet.data(), std::min(size, limit)),
                    [&](const error_code& failed, std::size_t) {
                      written = true;
                      if (failed) close();
                    });
  const auto finished = [&] { return written; };
  if (!run_until(finished)) {
    close();
    run_until(finished);  // The write refers to local objects.
  }
  return open_;
}

void tds_wire::wait(tds_gate gate) {
  const auto place = gate.stand([this] { asio::post(context_, [] {}); });
  if (!run_until([&] { return gate.is_open() || interrupted() || !open_; })) close();
}

bool tds_wire::interrupted() const {
  return std::any_of(inbox_.begin(), inbox_.end(),
                     [](const auto& each) { return each.type == tds_packet::attention; });
}

void tds_wire::close() {
  open_ = false;
  error_code ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
  socket_.close(ignored);
}

void tds_wire::stop() {
  asio::post(context_, [this] { close(); });
}

void tds_wire::read_header() {
  asio::async_read(socket_, asio::buffer(header_), [this](const error_code& failed, std::size_t) {
    if (failed) {
      close();
    } else {
      read_body();
    }
  });
}

void tds_wire::read_body() {
  const std::size_t size = byte_at(header_, 2) << 8U | byte_at(header_, 3);
  if (size < header_size) {
    close();
    return;
  }
  packet_.resize(size - header_size);
  asio::async_read(socket_, asio::buffer(packet_), [this](const error_code& failed, std::size_t) {
    if (failed) {
      close();
    } else {
      take_packet();
      read_header();
    }
  });
}

void tds_wire::take_packet() {
  message_ += packet_;
  if ((byte_at(header_, 1) & last_bit) == 0) return;
  if ((byte_at(header_, 1) & ignore_bit) == 0) {
    inbox_.push_back({static_cast<tds_packet>(byte_at(header_, 0)), std::move(message_)});
  }
  message_.clear();
}

bool tds_wire::run_until(const std::function<bool()>& done) {
  const auto limit = std::chrono::steady_clock::now() + tds_gate::patience;
  while (!done()) {
    if (context_.run_one_until(limit) == 0) return done();
  }
  return true;
}

}  // namespace tableq_test
