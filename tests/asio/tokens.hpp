#pragma once

#include <tableq/asio.hpp>

#if !defined(TABLEQ_BOOST_ASIO)
#include <asio/experimental/as_tuple.hpp>
#include <asio/experimental/deferred.hpp>
#endif

namespace tableq_test {

/// Has `as_tuple` and `deferred`.
#if defined(TABLEQ_BOOST_ASIO)
namespace tokens = tableq::net;
#else
namespace tokens = tableq::net::experimental;
#endif

}  // namespace tableq_test
