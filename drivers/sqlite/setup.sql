-- Run at the start of each session of tableq.
PRAGMA journal_mode = WAL;
-- A commit waits for the disk, unless the address says otherwise.
PRAGMA synchronous = full;

-- Large results need no folder for temporary files.
PRAGMA temp_store = MEMORY;

-- The log of a reader that stayed long gives its room back when it begins anew.
PRAGMA journal_size_limit = 67108864;
