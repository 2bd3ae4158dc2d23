#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

namespace tableq_test {

/// A network between clients and a server of this machine that can be cut.
///
/// @par Thread safety Everything may be called from any thread.
class proxy {
 public:
  /// The treatment of a client's data.
  enum class fate {
    pass,
    cut_before,  ///< The link is cut, and the server never gets the data.
    cut_after,   ///< The server gets the data and answers; the link is cut before the client gets
                 ///< the answer.
  };
  /// Called for each piece that arrives from a client, in the proxy's thread. libpq sends what
  /// belongs to one call of tableq as one piece unless it is long.
  using judge = std::function<fate(std::string_view piece)>;

  explicit proxy(std::uint16_t server);
  proxy(const proxy&) = delete;
  proxy& operator=(const proxy&) = delete;
  ~proxy();

  [[nodiscard]] std::uint16_t port() const;
  /// From now on. Empty: everything passes.
  void decide(judge by);
  /// Once, for the next piece of any client.
  void cut_next(fate how);
  /// Links that were cut.
  [[nodiscard]] std::size_t cuts() const;

 private:
  class network;
  std::unique_ptr<network> network_;
};

}  // namespace tableq_test
