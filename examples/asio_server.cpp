// A server with an event loop: each line that a client sends is a job. The handler adds it in a
// transaction of its own, and answers when that is committed. A coroutine takes the jobs. Run with
// a connection string.
#include <iostream>
#include <string>

#include <tableq/asio.hpp>
#include <tableq/tableq.hpp>

namespace net = tableq::net;
using net::ip::tcp;

namespace {

using job_queue = tableq::async_queue<tableq::claim_queue>;

/// Answers each line of one client.
net::awaitable<void> serve(tcp::socket client, tableq::async_calls& calls, job_queue& jobs) {
  std::string buffer;
  for (;;) {
    const std::size_t size = co_await net::async_read_until(client, net::dynamic_buffer(buffer),
                                                            '\n', net::use_awaitable);
    const std::string line = buffer.substr(0, size - 1);
    buffer.erase(0, size);
    // On a thread of the pool; a real server writes its own rows here, too.
    co_await calls.async_transact(
        [&](tableq::transaction& tx) { jobs.queue().in(tx).enqueue(line); }, net::use_awaitable);
    const std::string answer = "accepted: " + line + '\n';
    co_await net::async_write(client, net::buffer(answer), net::use_awaitable);
  }
}

net::awaitable<void> accept(tcp::acceptor& at, tableq::async_calls& calls, job_queue& jobs) {
  for (;;) {
    tcp::socket client = co_await at.async_accept(net::use_awaitable);
    net::co_spawn(at.get_executor(), serve(std::move(client), calls, jobs), net::detached);
  }
}

/// Takes and settles as many jobs.
net::awaitable<void> work(job_queue& jobs, int count) {
  for (int i = 0; i < count; ++i) {
    const auto job = co_await jobs.async_take(net::use_awaitable);
    std::cout << "job: " << job->payload << '\n';
    co_await jobs.async_settle(*job, tableq::handled::completed(), net::use_awaitable);
  }
}

/// A client, as another process would be.
net::awaitable<void> ask(tcp::endpoint server, std::string line) {
  tcp::socket socket(co_await net::this_coro::executor);
  co_await socket.async_connect(server, net::use_awaitable);
  line += '\n';
  co_await net::async_write(socket, net::buffer(line), net::use_awaitable);
  std::string answer;
  co_await net::async_read_until(socket, net::dynamic_buffer(answer), '\n', net::use_awaitable);
  std::cout << answer;
}

}  // namespace

int main(int argc, char** argv) {
  auto db = tableq::database::open(argc > 1 ? argv[1] : "sqlite://server.db");
  tableq::async_calls calls(db, 4);
  job_queue jobs(calls, db.claim("jobs"));

  net::io_context io;
  tcp::acceptor at(io, {net::ip::address_v4::loopback(), 0});
  net::co_spawn(io, accept(at, calls, jobs), net::detached);
  // The program ends after two jobs; a server would go on.
  net::co_spawn(
      io,
      [&]() -> net::awaitable<void> {
        co_await ask(at.local_endpoint(), "resize cat.jpg");
        co_await ask(at.local_endpoint(), "resize dog.jpg");
        co_await work(jobs, 2);
      },
      [&](std::exception_ptr failure) {
        if (failure) std::cout << "failed\n";
        io.stop();
      });
  io.run();
}
