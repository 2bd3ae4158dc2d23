-- 1 if this session of the server has the prepared statement of that name.
SELECT count(*) AS kept FROM pg_prepared_statements WHERE name = $1
