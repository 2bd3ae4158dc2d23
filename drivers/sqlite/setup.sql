-- What each session of tableq begins with.
PRAGMA journal_mode = WAL;
-- Stored means stored, unless the address says otherwise.
PRAGMA synchronous = full;
