#include "crash/own_postgresql.hpp"

#include <csignal>
#include <stdexcept>

#include "support/postgresql_client.hpp"
#include "support/text.hpp"

namespace tableq_test {
namespace {

std::vector<std::string> command_line(const std::string& disk, own_postgresql::on_disk what) {
  // The output shows an ended process, not a signal.
  std::signal(SIGPIPE, SIG_IGN);
  std::vector<std::string> out{TABLEQ_TEST_OWN_POSTGRESQL};
  const bool log = what == own_postgresql::on_disk::log;
  if (!disk.empty()) out.insert(out.end(), {log ? "--log-disk" : "--disk", disk});
  return out;
}

}  // namespace

own_postgresql::own_postgresql(const std::string& disk, on_disk what)
    : own_postgresql(command_line(disk, what)) {}

own_postgresql::own_postgresql(const with_clock& clock)
    : own_postgresql(
          std::vector<std::string>{TABLEQ_TEST_OWN_POSTGRESQL, "--clock", clock.preloaded}) {}

own_postgresql::own_postgresql(const std::vector<std::string>& command) : helper_(command) {
  const auto begun = order("begin");
  if (begun.contains("missing")) {
    missing_ = begun.at("missing").get<std::string>();
    return;
  }
  ports_["first"] = begun.at("done").get<std::uint16_t>();
  password_ = begun.at("password").get<std::string>();
}

own_postgresql::~own_postgresql() {
  helper_.let_go();
  helper_.wait();
}

nlohmann::json own_postgresql::order(const std::string& line) {
  helper_.tell(line);
  if (!helper_.has_written(++asked_)) throw std::runtime_error("own_postgresql.sh failed: " + line);
  return helper_.lines().back();
}

void own_postgresql::begin_database() {
  const std::string name = "t" + unique_name();
  static_cast<void>(sql("CREATE DATABASE " + name));
  database_ = name;
}

std::string own_postgresql::url_with(const std::string& hosts, const std::string& more) const {
  return "postgresql://tableq:" + password_ + "@" + hosts + "/" + database_ +
         (more.empty() ? "" : "?" + more);
}

std::string own_postgresql::url(const std::string& more) const {
  return url_at(port(), more);
}

std::string own_postgresql::url_of_all(const std::string& more) const {
  std::string hosts;
  for (const auto& [name, port] : ports_) {
    if (!hosts.empty()) hosts += ",";
    hosts += "127.0.0.1:" + std::to_string(port);
  }
  return url_with(hosts, more);
}

std::string own_postgresql::url_at(std::uint16_t port, const std::string& more) const {
  return url_with("127.0.0.1:" + std::to_string(port), more);
}

std::string own_postgresql::odbc_url() const {
  return "odbc://Driver={PostgreSQL Unicode};Protocol=7.4-0;ByteaAsLongVarBinary=1"
         ";Servername=127.0.0.1;Port=" +
         std::to_string(port()) + ";Database=" + database_ +
         ";Username=tableq;Password=" + password_;
}

rows own_postgresql::sql(const std::string& text) const {
  return postgresql_client(url()).run(text);
}

void own_postgresql::stop(const std::string& how) {
  order("stop " + writes_ + " " + how);
}

void own_postgresql::start() {
  order("start " + writes_);
}

void own_postgresql::revive() {
  order("revive");
}

void own_postgresql::add_standby() {
  ports_["second"] = order("standby").at("done").get<std::uint16_t>();
}

void own_postgresql::stop_standby() {
  order("stop second fast");
}

void own_postgresql::start_standby() {
  order("start second");
}

void own_postgresql::promote() {
  order("promote second");
  writes_ = "second";
}

void own_postgresql::set_clock(std::chrono::seconds off) {
  order("clock " + std::to_string(off.count()));
}

void own_postgresql::fill(const std::string& size) {
  order("fill " + size);
}

}  // namespace tableq_test
