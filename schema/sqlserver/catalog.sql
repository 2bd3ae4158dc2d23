-- The catalogue: one row for each queue, and one for its own layout.
IF OBJECT_ID(N'{catalog}', N'U') IS NULL
  CREATE TABLE {catalog} (
    name nvarchar(60) COLLATE Latin1_General_BIN2 NOT NULL PRIMARY KEY,
    -- Receipts carry it. A queue that is dropped and created again has another.
    [identity] bigint NOT NULL UNIQUE,
    kind nvarchar(20) NOT NULL,
    -- The version of the table's layout.
    layout int NOT NULL,
    options nvarchar(4000) NOT NULL DEFAULT (N''),
    created_at bigint NOT NULL DEFAULT (DATEDIFF_BIG(millisecond, '1970-01-01', SYSUTCDATETIME()))
  );

-- One row for each queue that has had a limit or a pause.
IF OBJECT_ID(N'{limits}', N'U') IS NULL
  CREATE TABLE {limits} (
    queue nvarchar(60) COLLATE Latin1_General_BIN2 NOT NULL PRIMARY KEY,
    paused tinyint NOT NULL DEFAULT (0) CHECK (paused IN (0, 1)),
    -- Messages that wait or run.
    capacity bigint NULL CHECK (capacity > 0),
    -- Millionths of a message in each second.
    rate bigint NULL CHECK (rate > 0),
    -- Messages.
    burst bigint NULL CHECK (burst > 0),
    -- Messages under a lease.
    concurrency bigint NULL CHECK (concurrency > 0),
    -- The messages that reads may take, in units of 10^-9 message, and the time of that number.
    tokens bigint NOT NULL DEFAULT (0),
    refilled_at bigint NOT NULL DEFAULT (0)
  );

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
    -- For people.
    name nvarchar(200) NULL,
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

-- Limits of groups: one row for each group that has its own, and one for all others.
IF OBJECT_ID(N'{quotas}', N'U') IS NULL
  CREATE TABLE {quotas} (
    queue nvarchar(60) COLLATE Latin1_General_BIN2 NOT NULL,
    -- Of the group, as CAST(N'vip' AS varbinary(400)) writes it; empty: all groups without a row of their own.
    name varbinary(400) NOT NULL,
    -- Messages that are ready or leased. NULL: as many as the queue's option says.
    running bigint NULL CHECK (running BETWEEN 1 AND 1000),
    -- Millionths of a start in each second.
    rate bigint NULL CHECK (rate BETWEEN 1000 AND 1000000000),
    -- Starts.
    burst bigint NULL CHECK (burst BETWEEN 1 AND 1000),
    -- Turns, where others have one. NULL: one.
    weight bigint NULL CHECK (weight BETWEEN 1 AND 1000),
    -- In the row without a name: the number of changes, and the one that waiting messages follow.
    changes bigint NOT NULL DEFAULT (0),
    applied bigint NOT NULL DEFAULT (0),
    PRIMARY KEY (queue, name)
  );

-- The groups that have started messages lately.
IF OBJECT_ID(N'{starts}', N'U') IS NULL
  CREATE TABLE {starts} (
    queue nvarchar(60) COLLATE Latin1_General_BIN2 NOT NULL,
    name varbinary(400) NOT NULL,
    -- When the group may start a whole burst again, in microseconds since 1970.
    full_at bigint NOT NULL,
    -- The message that waits for the next start, and its due time.
    alarm bigint NULL,
    alarm_at bigint NULL,
    PRIMARY KEY (queue, name)
  );

INSERT INTO {catalog} (name, [identity], kind, layout)
SELECT N'tableq', 0, N'catalogue', 3
WHERE NOT EXISTS (SELECT 1 FROM {catalog} WITH (UPDLOCK, HOLDLOCK) WHERE name = N'tableq');
