-- Loses only where reads begin: the next read of a queue finds it again.

-- name: 1.transaction
SET LOCAL lock_timeout = '100ms';

DROP TABLE IF EXISTS {floors};
