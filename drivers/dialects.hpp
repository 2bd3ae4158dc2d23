#pragma once

#include <tableq/unstable/dialect.hpp>

namespace tableq::inline v0::drivers {

// Each dialect's folder defines these two; drivers/registry.cpp lists the dialects of the build.

#if defined(TABLEQ_WITH_SQLITE)
dialect make_sqlite_dialect();
verdict classify_sqlite(const native_error& failure);
#endif

#if defined(TABLEQ_WITH_POSTGRESQL)
dialect make_postgresql_dialect();
verdict classify_postgresql(const native_error& failure);
#endif

#if defined(TABLEQ_WITH_SQLSERVER)
dialect make_sqlserver_dialect();
verdict classify_sqlserver(const native_error& failure);
#endif

}  // namespace tableq::inline v0::drivers
