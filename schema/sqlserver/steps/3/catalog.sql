-- Adds the tables of schedules and batches.

-- name: 1.transaction
-- One row for each rule of periodic messages.
IF OBJECT_ID(N'{schedules}', N'U') IS NULL
  CREATE TABLE {schedules} (
    name nvarchar(100) COLLATE Latin1_General_BIN2 NOT NULL PRIMARY KEY,
    -- The declaration that it belongs to; NULL: it was added by itself.
    owner nvarchar(100) COLLATE Latin1_General_BIN2 NULL,
    queue nvarchar(60) COLLATE Latin1_General_BIN2 NOT NULL,
    -- One of both: five fields, or milliseconds.
    cron nvarchar(400) NULL,
    every_ms bigint NULL CHECK (every_ms > 0),
    zone nvarchar(100) NOT NULL DEFAULT (N'UTC'),
    -- The message.
    payload varbinary(max) NOT NULL,
    headers nvarchar(max) NULL,
    [key] nvarchar(200) COLLATE Latin1_General_BIN2 NULL,
    group_key nvarchar(200) COLLATE Latin1_General_BIN2 NULL,
    priority int NOT NULL DEFAULT (0),
    -- How many times that nobody was there for are made up for: the latest ones. 0: none.
    catch_up int NOT NULL DEFAULT (1),
    -- Times that are longer ago than this many milliseconds are left out.
    latest_ms bigint NULL CHECK (latest_ms >= 0),
    -- 1: no message while the last one is in the queue.
    skip_if_running tinyint NOT NULL DEFAULT (0) CHECK (skip_if_running IN (0, 1)),
    enabled tinyint NOT NULL DEFAULT (1) CHECK (enabled IN (0, 1)),
    -- Why it cannot be followed.
    problem nvarchar(400) NULL,
    -- The last time that it fired for, and the next one. NULL: none yet; not computed yet.
    last_at bigint NULL,
    due_at bigint NULL,
    created_at bigint NOT NULL DEFAULT (DATEDIFF_BIG(millisecond, '1970-01-01', SYSUTCDATETIME())),
    CHECK ((cron IS NULL AND every_ms IS NOT NULL) OR (cron IS NOT NULL AND every_ms IS NULL))
  );

-- One row for each batch.
IF OBJECT_ID(N'{batches}', N'U') IS NULL
  CREATE TABLE {batches} (
    id bigint IDENTITY(1, 1) NOT NULL PRIMARY KEY,
    -- The message at its end; NULL: none.
    queue nvarchar(60) COLLATE Latin1_General_BIN2 NULL,
    payload varbinary(max) NULL,
    headers nvarchar(max) NULL,
    [key] nvarchar(200) COLLATE Latin1_General_BIN2 NULL,
    group_key nvarchar(200) COLLATE Latin1_General_BIN2 NULL,
    priority int NOT NULL DEFAULT (0),
    -- Messages that were added.
    total bigint NOT NULL DEFAULT (0),
    sealed tinyint NOT NULL DEFAULT (0) CHECK (sealed IN (0, 1)),
    cancelled tinyint NOT NULL DEFAULT (0) CHECK (cancelled IN (0, 1)),
    created_at bigint NOT NULL DEFAULT (DATEDIFF_BIG(millisecond, '1970-01-01', SYSUTCDATETIME())),
    -- When it ended, and what became of its messages.
    finished_at bigint NULL,
    completed bigint NULL,
    dead bigint NULL,
    removed bigint NULL,
    gone bigint NULL,
    -- The open ones, and those that ended long ago.
    UNIQUE (finished_at, sealed, id)
  );

-- One row for each message of a batch that is not completed.
IF OBJECT_ID(N'{members}', N'U') IS NULL
  CREATE TABLE {members} (
    -- The identity of its queue, and its id there.
    queue bigint NOT NULL,
    message bigint NOT NULL,
    batch bigint NOT NULL,
    -- 0 outstanding, 1 dead, 2 removed, 3 gone.
    outcome tinyint NOT NULL DEFAULT (0) CHECK (outcome BETWEEN 0 AND 3),
    PRIMARY KEY (queue, message),
    UNIQUE (batch, outcome, queue, message)
  );
