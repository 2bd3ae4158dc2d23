-- 1 if this session of the server has the prepared statement of that name.
SELECT pg_catalog.count(*) AS kept FROM pg_catalog.pg_prepared_statements WHERE name OPERATOR(pg_catalog.=) $1
