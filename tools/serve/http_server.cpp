#include "http_server.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

namespace tool::web {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::asio::ip::tcp;
constexpr std::size_t answering_threads = 4;
using sent_request = http::request<http::string_body>;

/// As many connections as the process may have files, without those of databases.
std::size_t room_for_connections(std::size_t wanted) {
  constexpr rlim_t others = 100;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::min<std::size_t>(wanted, 500);
  const rlim_t needed = std::min<rlim_t>(wanted + others, limit.rlim_max);
  if (limit.rlim_cur < needed) {
    limit.rlim_cur = needed;
    // If it fails, the smaller number holds.
    [[maybe_unused]] const int ignored = ::setrlimit(RLIMIT_NOFILE, &limit);
    ::getrlimit(RLIMIT_NOFILE, &limit);
  }
  const rlim_t room = limit.rlim_cur > 2 * others ? limit.rlim_cur - others : limit.rlim_cur / 2;
  return std::min<std::size_t>(wanted, room);
}

/// @return the reason why the request is refused; empty if it is not.
std::optional<response> read_request(const sent_request& sent, request& into) {
  switch (sent.method()) {
    case http::verb::get:
    case http::verb::head:
      break;
    case http::verb::post:
      into.posts = true;
      break;
    default: {
      response out = plain(405, "Only GET, HEAD and POST\n");
      out.headers.emplace_back("Allow", "GET, HEAD, POST");
      return out;
    }
  }
  for (const auto& field : sent) {
    const beast::string_view sent_name = field.name_string();
    std::string name = lower_case({sent_name.data(), sent_name.size()});
    // Two of one name may be read differently by a proxy in front.
    const bool once = name == "host" || name == "origin" || name == "authorization";
    const bool added = into.headers.emplace(name, std::string(field.value())).second;
    if (!added && once) return plain(400, "Two headers " + name + "\n");
  }
  // A proxy in front may see another end of such a body.
  const std::string_view coding = into.header("transfer-encoding");
  if (!coding.empty() && coding != "chunked") return plain(400, "Only chunked bodies\n");
  const beast::string_view target = sent.target();
  if (!read_target({target.data(), target.size()}, into)) return plain(400, "A wrong target\n");
  if (into.posts) {
    if (into.header("content-type") != "application/x-www-form-urlencoded") {
      return plain(415, "Send a form: application/x-www-form-urlencoded\n");
    }
    auto form = read_form(sent.body());
    if (!form) return plain(400, "A wrong form\n");
    into.form = std::move(*form);
  }
  return std::nullopt;
}

}  // namespace

/// State that connections share.
class http_server::state {
 public:
  state() : acceptor(io), pool(answering_threads), quick_pool(2) {}

  void accept();

  http_service service;
  std::size_t most_connections = 0;
  std::size_t connections = 0;  // only in the thread of io
  std::size_t unsent = 0;       // the same
  asio::io_context io{1};
  tcp::acceptor acceptor;
  asio::thread_pool pool;
  asio::thread_pool quick_pool;
  std::thread serving;

  std::atomic<std::size_t> answering = 0;
};

namespace {

/// One client. Its functions run in the thread of the io_context.
template <class State>
class connection : public std::enable_shared_from_this<connection<State>> {
 public:
  /// The state outlives its connections.
  connection(State& owner, tcp::socket socket)
      : state_(&owner), stream_(std::move(socket)), late_(owner.io) {
    ++state_->connections;
  }
  ~connection() {
    --state_->connections;
    state_->unsent -= unsent_;
  }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  void read() {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(state_->service.header_bytes));
    parser_->body_limit(state_->service.body_bytes);
    // One time for all bytes of the request, however they come.
    stream_.expires_after(state_->service.receive_within);
    http::async_read(stream_, buffer_, *parser_,
                     [self = this->shared_from_this()](beast::error_code failure, std::size_t) {
                       self->has_read(failure);
                     });
  }

 private:
  void has_read(beast::error_code failure) {
    if (failure == http::error::end_of_stream) return close();
    if (failure == http::error::header_limit) return refuse(plain(431, "Too many headers\n"));
    if (failure == http::error::body_limit) return refuse(plain(413, "Too large\n"));
    if (failure &&
        failure.category() == http::make_error_code(http::error::bad_method).category()) {
      return refuse(plain(400, "This is no HTTP request\n"));
    }
    if (failure) return;  // Slow, or gone: the destructor closes.
    const sent_request& sent = parser_->get();
    head_ = sent.method() == http::verb::head;
    version_ = sent.version();
    keep_ = sent.keep_alive();
    auto asked = std::make_shared<request>();
    if (auto refused = read_request(sent, *asked)) return refuse(std::move(*refused));
    answer(std::move(asked));
  }

  /// An answer after which the connection ends.
  void refuse(response why) {
    keep_ = false;
    write(std::move(why));
  }

  void answer(std::shared_ptr<request> asked) {
    stream_.expires_never();
    if (state_->answering >= state_->service.most_waiting) {
      return refuse(state_->service.failed(503, "Too many requests at once."));
    }
    ++state_->answering;
    late_.expires_after(state_->service.answer_within);
    late_.async_wait([self = this->shared_from_this(), asked](beast::error_code cancelled) {
      if (cancelled || self->answered_) return;
      self->answered_ = true;
      self->refuse(self->state_->service.failed(
          504, asked->posts
                   ? "The database has not answered in time. It may still do what you asked "
                     "for: look before you repeat it."
                   : "The database has not answered in time. Try again."));
    });
    answered_ = false;
    auto& pool = state_->service.is_quick(*asked) ? state_->quick_pool : state_->pool;
    asio::post(pool, [self = this->shared_from_this(), asked = std::move(asked)] {
      auto made = std::make_shared<response>(self->state_->service.respond(*asked));
      --self->state_->answering;
      asio::post(self->state_->io, [self, made] { self->has_answered(std::move(*made)); });
    });
  }

  void has_answered(response made) {
    if (answered_) return;  // Too late: another answer was sent.
    answered_ = true;
    late_.cancel();
    write(std::move(made));
  }

  void write(response made) {
    if (state_->unsent + made.body.size() > state_->service.most_unsent) {
      made = plain(503, "Too many answers wait for their clients.\n");
      keep_ = false;
    }
    unsent_ = made.body.size();
    state_->unsent += unsent_;
    reply_.emplace();
    reply_->version(version_);
    reply_->result(made.status);
    reply_->set(http::field::content_type, made.type);
    for (const auto& [name, value] : state_->service.headers) reply_->set(name, value);
    for (const auto& [name, value] : made.headers) reply_->set(name, value);
    reply_->keep_alive(keep_);
    reply_->body() = std::move(made.body);
    reply_->prepare_payload();
    if (head_) reply_->body().clear();
    stream_.expires_after(state_->service.send_within);
    serializer_.emplace(*reply_);
    const auto done = [self = this->shared_from_this()](beast::error_code failure, std::size_t) {
      if (failure) return;
      self->state_->unsent -= std::exchange(self->unsent_, 0);
      if (self->keep_) return self->read();
      self->close();
    };
    if (head_) {
      http::async_write_header(stream_, *serializer_, done);
    } else {
      http::async_write(stream_, *serializer_, done);
    }
  }

  void close() {
    beast::error_code ignored;  // The client may be gone.
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
  }

  State* state_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<http::response<http::string_body>> reply_;
  std::optional<http::response_serializer<http::string_body>> serializer_;
  asio::steady_timer late_;
  std::size_t unsent_ = 0;
  unsigned version_ = 11;
  bool head_ = false;
  bool keep_ = false;
  bool answered_ = true;
};

std::string words_of(const std::string& address, unsigned short port) {
  const bool six = address.find(':') != std::string::npos;
  return "cannot listen on " + (six ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

}  // namespace

http_server::http_server(const std::string& address, unsigned short port)
    : state_(std::make_unique<state>()) {
  beast::error_code failure;
  const tcp::endpoint where(asio::ip::make_address(address, failure), port);
  if (!failure) state_->acceptor.open(where.protocol(), failure);
  if (!failure) state_->acceptor.set_option(asio::socket_base::reuse_address(true), failure);
  if (!failure) state_->acceptor.bind(where, failure);
  if (!failure) state_->acceptor.listen(asio::socket_base::max_listen_connections, failure);
  if (failure) throw std::runtime_error(words_of(address, port) + ": " + failure.message());
}

void http_server::start(http_service service) {
  state_->most_connections = room_for_connections(service.most_connections);
  state_->service = std::move(service);
  state_->accept();
  state_->serving = std::thread([shared = state_.get()] { shared->io.run(); });
}

void http_server::state::accept() {
  acceptor.async_accept([this](beast::error_code failure, tcp::socket socket) {
    if (failure == asio::error::operation_aborted) return;
    if (!failure && connections < most_connections) {
      std::make_shared<connection<state>>(*this, std::move(socket))->read();
    }
    if (!failure) return accept();
    // Out of files: connections that end make room.
    auto rest = std::make_shared<asio::steady_timer>(io, std::chrono::milliseconds{100});
    rest->async_wait([this, rest](beast::error_code cancelled) {
      if (!cancelled) accept();
    });
  });
}

unsigned short http_server::port() const {
  return state_->acceptor.local_endpoint().port();
}

http_server::~http_server() {
  state_->io.stop();
  if (state_->serving.joinable()) state_->serving.join();
  state_->pool.join();
  state_->quick_pool.join();
}

}  // namespace tool::web
