#pragma once

namespace tableq::inline v0::drivers {

/// After this call a child of fork() can open SQLite files that its parent has open.
///
/// SQLite keeps two things for the whole process, of which a child has wrong copies: mutexes, which
/// another thread may have held; and the list of the files that it has locked, by device and node,
/// while the locks themselves stay with the parent. A child that opened such a file would take no
/// lock of its own, and the parent would delete the log under it. So the mutexes are taken for the
/// moment of the fork, and a child sees its files on a device of its own.
///
/// Does nothing if it was called before, or if SQLite does not let its system calls be replaced.
void survive_forks();

}  // namespace tableq::inline v0::drivers
