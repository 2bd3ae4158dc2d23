#include <poll.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <regex>

#include <tableq/tableq.hpp>

#include "commands.hpp"
#include "connection.hpp"
#include "http_server.hpp"
#include "output.hpp"
#include "parse.hpp"
#include "signals.hpp"
#include "site.hpp"

namespace tool {

namespace {

using std::chrono::milliseconds;

struct serve_arguments : arguments {
  explicit serve_arguments(CLI::App& of) : arguments(of) {
    add_naming_options(command, connection);
  }

  argument urls =
      argument(command, "--db", "URL",
               "A database to show; may be given more than once. Otherwise\nTABLEQ_DB in the "
               "environment")
          .repeatable();
  argument listen{command, "--listen", "ADDRESS:PORT",
                  "Address and port to listen on (127.0.0.1:8080)"};
  argument hosts =
      argument(command, "--host", "NAME[:PORT]",
               "Another name under which browsers reach it; may be given more\nthan once")
          .repeatable();
  argument token_file{
      command, "--token-file", "FILE",
      "File with the token that visitors must give; needed for every\naddress but loopback"};
  argument path{command, "--path", "/PATH",
                "Path below which a proxy shows the pages, such as /tableq"};
  argument span{command, "--history", "TIME", "Time that the charts cover, from 12s (1h)"};
  argument interval{command, "--interval", "TIME",
                    "Time between two readings of the figures, from 100ms (2s)"};
  flag allow_changes{command, "--allow-changes", "Let visitors pause, cancel, redrive and delete"};
  flag show_payloads{command, "--show-payloads", "Show payloads, headers and results"};
  flag open_metrics{command, "--open-metrics", "Serve /metrics without the token"};
  flag https{command, "--https", "A proxy in front speaks HTTPS: send cookies by HTTPS only"};
  connection_options connection = {};
};

struct place {
  std::string address;
  unsigned short port = 0;

  [[nodiscard]] bool is_loopback() const { return address.starts_with("127.") || address == "::1"; }
  [[nodiscard]] std::string words() const {
    return address.find(':') == std::string::npos ? address : "[" + address + "]";
  }
};

place parse_place(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) {
    throw usage_error(
        "--listen must be an address and a port, such as 127.0.0.1:8080 or [::1]:8080");
  }
  std::string address = text.substr(0, colon);
  if (address == "localhost") address = "127.0.0.1";
  const bool six = address.starts_with('[') && address.ends_with(']');
  const auto port = parse_number("the port of --listen", text.substr(colon + 1), 0, 65535);
  return {six ? address.substr(1, address.size() - 2) : address, static_cast<unsigned short>(port)};
}

/// The first line of the file.
std::string read_token(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::array<char, 4096> line{};
  if (!in || !in.getline(line.data(), line.size()))
    throw usage_error("cannot read a token of up to 4095 bytes from " + in_quotes(file));
  std::string token(line.data());
  while (token.ends_with('\r') || token.ends_with(' ')) token.pop_back();
  // As ssh does with a key.
  using std::filesystem::perms;
  if ((std::filesystem::status(file).permissions() & perms::others_read) != perms::none) {
    complain("warning: every user of this machine can read " + in_quotes(file) +
             ", which has the token; forbid it by: chmod 0600");
  }
  // The characters of a bearer's token.
  if (!std::regex_match(token, std::regex("[A-Za-z0-9._~+/=-]{20,}"))) {
    throw usage_error(
        "the token must have at least 20 characters, of letters, digits and -._~+/= only; make "
        "one by: head -c 24 /dev/urandom | base64 > FILE");
  }
  return token;
}

/// The names that browsers may send: without the port where it is that of the scheme.
std::set<std::string, std::less<>> hosts_of(const serve_arguments& given, const place& at) {
  std::set<std::string, std::less<>> out;
  const std::string port = ":" + std::to_string(at.port);
  std::vector<std::string> names{at.words()};
  if (at.is_loopback()) names.insert(names.end(), {"localhost", "127.0.0.1", "[::1]"});
  for (const std::string& each : names) {
    out.insert(each + port);
    if (at.port == 80) out.insert(each);
  }
  for (const std::string& each : given.hosts.all()) {
    // With a port of its own the second is no name that a browser sends.
    out.insert(web::lower_case(each));
    out.insert(web::lower_case(each) + port);
  }
  return out;
}

/// All but what needs the port.
web::settings rules_of(const serve_arguments& given, const place& at) {
  web::settings out;
  out.allows_changes = given.allow_changes;
  out.shows_payloads = given.show_payloads;
  out.open_metrics = given.open_metrics;
  out.behind_https = given.https;
  out.prefix = given.path.text();
  if (!out.prefix.empty() &&
      (out.prefix.size() < 2 || out.prefix != "/" + web::escaped(out.prefix.substr(1)))) {
    throw usage_error("--path must be one name after a slash, such as /tableq");
  }
  if (given.token_file.given()) out.token = read_token(given.token_file.text());
  if (out.token.empty() && !at.is_loopback()) {
    throw usage_error(
        "every address but loopback needs --token-file: the pages show the queues to all who can "
        "reach them");
  }
  return out;
}

std::vector<std::unique_ptr<web::watched_database>> watch_all(const serve_arguments& given,
                                                              const connection_options& of_app) {
  const milliseconds interval = given.interval.duration(std::chrono::seconds{2}, milliseconds{100});
  const milliseconds span = given.span.duration(std::chrono::hours{1}, std::chrono::seconds{12});
  std::vector<std::unique_ptr<web::watched_database>> out;
  std::set<std::string> labels;
  for (const std::string& url :
       given.urls.given() ? given.urls.all() : std::vector{address_of(of_app)}) {
    if (url.empty()) throw usage_error("--db is empty: give it a URL");
    connection_options where = given.connection;
    where.url = url;
    where.verify_only = true;
    std::string label = web::label_of(url);
    while (!labels.insert(label).second) label += "'";
    out.push_back(std::make_unique<web::watched_database>(label, where, interval, span));
    const std::string trouble = out.back()->view()->trouble;
    if (!trouble.empty()) {
      complain("warning: " + label + " does not answer, and is tried again: " + trouble);
    }
  }
  return out;
}

exit_status serve(const connection_options& of_app, const serve_arguments& given) {
  const place wanted = parse_place(given.listen.given() ? given.listen.text() : "127.0.0.1:8080");
  web::settings rules = rules_of(given, wanted);
  // Before the first thread, which is one of the library's.
  const signal_queue signals;
  auto databases = watch_all(given, of_app);
  // The port decides which names are right, so it listens before the pages are made. They outlive
  // it: its threads answer until it has ended.
  std::optional<web::site> pages;
  web::http_server server(wanted.address, wanted.port);
  const place at{wanted.address, server.port()};
  rules.hosts = hosts_of(given, at);
  rules.cookie = "tableq_" + std::to_string(at.port);
  const std::string start = at.words() + ":" + std::to_string(at.port) + rules.prefix + "/";
  pages.emplace(std::move(databases), std::move(rules));
  server.start(*pages);
  print_line("http://" + start);
  while (signals.take() == 0) {
    pollfd event{signals.handle(), POLLIN, 0};
    ::poll(&event, 1, -1);
  }
  // A call of the database that hangs must not keep the process. What was answered is stored.
  std::thread([] {
    std::this_thread::sleep_for(std::chrono::seconds{5});
    ::_exit(0);
  }).detach();
  return exit_status::done;
}

}  // namespace

void add_serve(CLI::App& app, invocation& call) {
  CLI::App& command = add_command(
      app, "serve",
      {.description = "Show the queues in a browser, and serve their metrics",
       .details =
           "Pages with live figures, messages, dead messages and the doctor's findings; /metrics "
           "for Prometheus,\n/healthz, and JSON below /api/v1/databases. It only shows, and hides "
           "payloads and headers, unless\nyou allow more.",
       .usage = "[--db URL]... [--listen ADDRESS:PORT] [--token-file FILE] [--allow-changes] "
                "[--show-payloads]",
       .examples = "  tableq serve\n"
                   "  tableq serve --db postgresql://viewer@db/shop --allow-changes\n"
                   "  tableq serve --listen 0.0.0.0:8080 --token-file /etc/tableq/token "
                   "--host queues.example.org --https"});
  on_command<serve_arguments>(command, call, serve);
}

}  // namespace tool
