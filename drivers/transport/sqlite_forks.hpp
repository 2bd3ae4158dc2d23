#pragma once

namespace tableq::inline v0::drivers {

/// After this call a child of fork() can open SQLite files that its parent has open.
///
/// SQLite keeps two kinds of state for the whole process, and a child has wrong copies of both.
/// Mutexes: another thread may have held them. The list of locked files, by device and node: the
/// locks themselves stay with the parent. A child that opened such a file would take no lock, and
/// the parent would delete the log that the child uses. Therefore the forking thread takes the
/// mutexes during the fork, and files have another device number in a child.
///
/// Does nothing if it was called before, or if SQLite does not let its system calls be replaced.
void prepare_for_forks();

}  // namespace tableq::inline v0::drivers
