#include "http_server.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>

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
using sent_request = http::request<http::string_body>;
using std::chrono::seconds;

constexpr std::uint32_t header_bytes = 16 * 1024;
constexpr std::size_t body_bytes = 64UL * 1024;
constexpr seconds receive_within{15};  ///< The whole request.
constexpr seconds answer_within{20};
constexpr seconds send_within{30};              ///< The whole answer.
constexpr std::size_t most_connections = 4000;  ///< Less, if the process may open fewer files.
constexpr std::size_t most_waiting = 1000;      ///< Requests that wait in a lane.
/// Bytes of answers that slow clients have not read. Above it they get a refusal.
constexpr std::size_t most_unsent = 256UL * 1024 * 1024;

/// Every answer has them, those to unreadable requests too.
constexpr std::array<std::pair<const char*, const char*>, 7> headers{
    {{"Content-Security-Policy",
      "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
      "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"},
     {"Cache-Control", "no-store"},
     {"X-Content-Type-Options", "nosniff"},
     {"X-Frame-Options", "DENY"},
     // With "no-referrer" browsers hide the origin of forms, too.
     {"Referrer-Policy", "same-origin"},
     {"Cross-Origin-Opener-Policy", "same-origin"},
     {"Cross-Origin-Resource-Policy", "same-origin"}}};

/// As many connections as the process may have files, without those of databases.
std::size_t room_for_connections() {
  constexpr rlim_t others = 100;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 500;
  const rlim_t needed = std::min<rlim_t>(most_connections + others, limit.rlim_max);
  const rlimit more{std::max(limit.rlim_cur, needed), limit.rlim_max};
  if (::setrlimit(RLIMIT_NOFILE, &more) == 0) limit = more;
  const rlim_t room = limit.rlim_cur > 2 * others ? limit.rlim_cur - others : limit.rlim_cur / 2;
  return std::min<std::size_t>(most_connections, room);
}

/// @throws page_error when it is refused.
request read_request(const sent_request& sent, const std::string& prefix) {
  request out{.posts = sent.method() == http::verb::post};
  if (!out.posts && sent.method() != http::verb::get && sent.method() != http::verb::head) {
    throw page_error(405, "Send GET, HEAD or POST.");
  }
  for (const auto& field : sent) {
    const std::string name = lower_case(std::string(field.name_string()));
    // Two of one name may be read differently by a proxy in front.
    const bool once = name == "host" || name == "origin" || name == "authorization";
    const bool added = out.headers.emplace(name, std::string(field.value())).second;
    if (!added && once) throw page_error(400, "The header " + name + " was sent twice.");
  }
  // A proxy in front may see another end of such a body.
  const std::string& coding = out.headers["transfer-encoding"];
  if (!coding.empty() && coding != "chunked")
    throw page_error(400, "Send the body whole, or chunked.");
  read_target(std::string(sent.target()), prefix, out);
  if (!out.posts) return out;
  if (out.headers["content-type"] != "application/x-www-form-urlencoded") {
    throw page_error(415, "Send a form: application/x-www-form-urlencoded.");
  }
  out.form = read_form(sent.body());
  return out;
}

}  // namespace

/// State that connections share. Used in the thread of `io`, but for the answers.
class http_server::state {
 public:
  /// Threads for the answers that ask one database, or none: one that hangs holds up no other.
  struct lane {
    asio::thread_pool threads{3};
    std::atomic<std::size_t> waiting = 0;
  };

  void accept();

  class connection;
  site* pages = nullptr;
  std::size_t most = 0;
  std::size_t connections = 0;
  std::size_t unsent = 0;
  asio::io_context io{1};
  tcp::acceptor acceptor{io};
  asio::steady_timer rest{io};
  std::deque<lane> lanes;
  std::thread serving;
};

/// One client.
class http_server::state::connection : public std::enable_shared_from_this<connection> {
 public:
  /// The state outlives its connections.
  connection(state& owner, tcp::socket socket)
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
    parser_->header_limit(header_bytes);
    parser_->body_limit(body_bytes);
    // One time for all bytes of the request, however they come.
    stream_.expires_after(receive_within);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](beast::error_code failure, std::size_t) {
                       self->has_read(failure);
                     });
  }

 private:
  void has_read(beast::error_code failure) {
    if (failure == http::error::end_of_stream) return close();
    if (failure == http::error::header_limit)
      return refuse(431, "The headers are longer than 16 KiB.");
    if (failure == http::error::body_limit) return refuse(413, "The body is longer than 64 KiB.");
    const beast::error_code of_http = http::error::bad_method;
    if (failure && failure.category() == of_http.category())
      return refuse(400, "This is not an HTTP request.");
    if (failure) return;  // Slow, or gone: the destructor closes.
    try {
      answer(std::make_shared<request>(
          read_request(parser_->get(), state_->pages->guard.rules.prefix)));
    } catch (const page_error& why) {
      refuse(why.status(), why.what());
    }
  }

  /// An answer after which the connection ends.
  void refuse(unsigned status, const std::string& why) {
    response made = plain(status, why + "\n");
    if (status == 405) made.headers.emplace_back("Allow", "GET, HEAD, POST");
    write(std::move(made), false);
  }

  void answer(std::shared_ptr<request> asked) {
    stream_.expires_never();
    state::lane& lane = state_->lanes[state_->pages->lane_of(*asked)];
    if (lane.waiting >= most_waiting) {
      return write(state_->pages->failed(503, "Too many requests at once."), false);
    }
    ++lane.waiting;
    answered_ = false;
    late_.expires_after(answer_within);
    late_.async_wait([self = shared_from_this(), asked](beast::error_code cancelled) {
      if (cancelled || self->answered_.exchange(true)) return;
      const char* const advice =
          asked->posts ? "It may still do what you asked for: look before you repeat it."
                       : "Try again.";
      self->write(self->state_->pages->failed(
                      504, std::string("The database has not answered in time. ") + advice),
                  false);
    });
    asio::post(lane.threads, [self = shared_from_this(), of = std::move(asked), &lane]() mutable {
      auto made = std::make_shared<response>();
      // Nobody waits for one that is late: it does not begin any more.
      if (!self->answered_) *made = self->state_->pages->respond(*of);
      --lane.waiting;
      // Not the last owner: a connection ends in the thread of `io`.
      asio::io_context& io = self->state_->io;
      asio::post(io, [self = std::move(self), made] {
        if (self->answered_.exchange(true)) return;  // Too late: another one was sent.
        self->late_.cancel();
        self->write(std::move(*made));
      });
    });
  }

  /// @param keep the connection, if the client wants to.
  void write(response made, bool keep = true) {
    if (state_->unsent + made.body.size() > most_unsent) {
      made = plain(503, "Too many answers wait for their clients.\n");
      keep = false;
    }
    keep = keep && parser_->get().keep_alive();
    unsent_ = made.body.size();
    state_->unsent += unsent_;
    reply_.emplace();
    reply_->version(parser_->get().version());
    reply_->result(made.status);
    reply_->set(http::field::content_type, made.type);
    for (const auto& [name, value] : headers) reply_->set(name, value);
    for (const auto& [name, value] : made.headers) reply_->set(name, value);
    reply_->keep_alive(keep);
    reply_->body() = std::move(made.body);
    reply_->prepare_payload();
    if (parser_->get().method() == http::verb::head) reply_->body().clear();
    stream_.expires_after(send_within);
    http::async_write(stream_, *reply_,
                      [self = shared_from_this(), keep](beast::error_code failure, std::size_t) {
                        if (failure) return;
                        self->state_->unsent -= std::exchange(self->unsent_, 0);
                        keep ? self->read() : self->close();
                      });
  }

  void close() {
    beast::error_code ignored;  // The client may be gone.
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
  }

  state* state_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_{body_bytes};  ///< A line of a chunk has no other bound.
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<http::response<http::string_body>> reply_;
  asio::steady_timer late_;
  std::size_t unsent_ = 0;
  std::atomic<bool> answered_ = true;
};

void http_server::state::accept() {
  acceptor.async_accept([this](beast::error_code failure, tcp::socket socket) {
    if (failure == asio::error::operation_aborted) return;
    if (!failure && connections < most) {
      std::make_shared<connection>(*this, std::move(socket))->read();
    }
    if (!failure) return accept();
    // Out of files: connections that end make room.
    rest.expires_after(std::chrono::milliseconds{100});
    rest.async_wait([this](beast::error_code cancelled) {
      if (!cancelled) accept();
    });
  });
}

http_server::http_server(const std::string& address, unsigned short port)
    : state_(std::make_unique<state>()) {
  try {
    state_->acceptor = tcp::acceptor(state_->io, {asio::ip::make_address(address), port});
  } catch (const boost::system::system_error& failure) {
    throw std::runtime_error("cannot listen on " + address + ", port " + std::to_string(port) +
                             ": " + failure.code().message());
  }
}

void http_server::start(site& pages) {
  state_->most = room_for_connections();
  state_->pages = &pages;
  state_->lanes.resize(pages.lanes());
  state_->accept();
  state_->serving = std::thread([shared = state_.get()] { shared->io.run(); });
}

unsigned short http_server::port() const {
  return state_->acceptor.local_endpoint().port();
}

http_server::~http_server() {
  state_->io.stop();
  if (state_->serving.joinable()) state_->serving.join();
  for (state::lane& each : state_->lanes) each.threads.join();
}

}  // namespace tool::web
