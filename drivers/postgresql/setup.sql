-- Run at the start of each session of tableq, in one round trip.
SET client_encoding TO 'UTF8';
-- Through ODBC arrays travel as text.
SET array_nulls TO on;
-- Above it, competing readers fail with 40001 instead of skipping rows.
SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED;
-- A plan is made once and kept. On an empty table, reading and sorting all of it looks cheapest. The plan
-- must still be right when a million messages wait, so it may only follow an index.
-- Citus cannot plan an INSERT before it knows the parameters.
SELECT set_config('plan_cache_mode',
                  CASE WHEN to_regclass('pg_catalog.pg_dist_partition') IS NULL THEN 'force_generic_plan'
                       ELSE 'auto' END, false);
SET enable_seqscan TO off;
SET enable_bitmapscan TO off;
SET enable_sort TO off;
-- PostgreSQL still uses a disabled kind of plan if there is no other, at a cost that would trigger
-- compilation.
SET jit TO off;
