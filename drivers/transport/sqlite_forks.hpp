#pragma once

namespace tableq::drivers {

/// From now on a child of fork() can open SQLite files that its parent has open, in peace.
///
/// SQLite keeps two things for the whole process, of which a child has copies that are wrong there:
/// mutexes, which another thread may have had; and which files it has locked, by device and node,
/// while the locks themselves stay with the parent. A child that opened such a file would take no
/// lock of its own, and the parent would delete the log under it. So the mutexes are taken for the
/// moment of the fork, and a child sees its files on a device of its own.
///
/// Does nothing where that was called before, or SQLite has no such system calls to replace.
void survive_forks();

}  // namespace tableq::drivers
