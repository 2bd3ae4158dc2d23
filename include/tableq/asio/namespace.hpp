#pragma once

/// @file
/// Which Asio `tableq/asio.hpp` uses: the separate one, or Boost's if TABLEQ_BOOST_ASIO is defined.

#include <system_error>

#include <tableq/export.hpp>

#if defined(TABLEQ_BOOST_ASIO)
#include <boost/asio/version.hpp>
#if BOOST_ASIO_VERSION < 102000
// A file that is missing ends the compilation at once; an #error is followed by hundreds of others.
#include "tableq/asio.hpp needs Boost 1.77 or later, or the separate Asio: see docs/asio.md"
#endif
#include <boost/asio.hpp>
#else
#include <asio/version.hpp>
#if ASIO_VERSION < 101900
#include "tableq/asio.hpp needs Asio 1.19 or later: see docs/asio.md"
#endif
#include <asio.hpp>
#endif

namespace tableq::inline v0 {

#if defined(TABLEQ_BOOST_ASIO)
/// The namespace of Asio.
namespace net = ::boost::asio;
/// The type of the first argument of each handler.
using asio_error = ::boost::system::error_code;
/// The category of an asio_error.
using asio_category = ::boost::system::error_category;
/// The exception of an asio_error.
using asio_failure = ::boost::system::system_error;
#else
/// The namespace of Asio.
namespace net = ::asio;
/// The type of the first argument of each handler.
using asio_error = std::error_code;
/// The category of an asio_error.
using asio_category = std::error_category;
/// The exception of an asio_error.
using asio_failure = std::system_error;
#endif

}  // namespace tableq::inline v0
