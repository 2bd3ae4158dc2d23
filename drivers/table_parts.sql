-- Parts of the statements on tables of applications, alike for all databases.
-- drivers/table_text.cpp fills {column}, {value} and the other names.

-- name: null
NULL

-- name: condition.equals
{column} = {value}

-- name: condition.differs
({column} <> {value} OR {column} IS NULL)

-- name: condition.null
{column} IS NULL

-- name: condition.not_null
{column} IS NOT NULL

-- name: condition.at_most
{column} <= {value}

-- name: condition.above
{column} > {value}

-- name: condition.null_or_at_most
({column} IS NULL OR {column} <= {value})

-- name: condition.none
1 = 1

-- name: condition.true
{value} <> 0

-- name: counter.more
-- A counter that is NULL counts from zero.
COALESCE({column}, 0) + {value}

-- name: counter.less
COALESCE({column}, 0) - {value}

-- name: later
{value} + {by}

-- name: earlier
{value} - {by}

-- name: named
{value} AS {name}

-- name: if_dead
CASE WHEN {dead} THEN {then} ELSE {otherwise} END

-- name: assignment
{column} = {value}

-- name: descending
{column} DESC
