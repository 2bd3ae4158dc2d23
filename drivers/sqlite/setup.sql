-- Run at the start of each session of tableq.
PRAGMA journal_mode = WAL;
-- A commit waits for the disk, unless the address says otherwise.
PRAGMA synchronous = full;
