-- Run at the start of each session of tableq.
PRAGMA journal_mode = WAL;
-- A commit waits for the disk, unless the address says otherwise.
PRAGMA synchronous = full;

-- Large results need no folder for temporary files.
PRAGMA temp_store = MEMORY;
