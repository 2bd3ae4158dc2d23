-- Run at the start of each session of tableq, in one round trip.
SET client_encoding TO 'UTF8';
-- Operators and functions of a schema before pg_catalog would take the place of the built-in ones. If the path does
-- not name it, pg_catalog is searched first.
SELECT pg_catalog.set_config('search_path',
                             (SELECT pg_catalog.string_agg(place, ',' ORDER BY number)
                              FROM pg_catalog.unnest(pg_catalog.string_to_array(
                                     pg_catalog.current_setting('search_path'), ','))
                                WITH ORDINALITY AS path (place, number)
                              WHERE number OPERATOR(pg_catalog.=) 1
                                OR pg_catalog.btrim(place, ' "') OPERATOR(pg_catalog.<>) 'pg_catalog'), false)
WHERE pg_catalog.current_setting('search_path') OPERATOR(pg_catalog.~) 'pg_catalog';
-- Through ODBC arrays travel as text.
SET array_nulls TO on;
-- Above it, competing readers fail with 40001 instead of skipping rows.
SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED;
-- A plan is made once and kept. On an empty table, reading and sorting all of it looks cheapest. The plan
-- must still be right when a million messages wait, so it may only follow an index.
-- Citus cannot plan an INSERT before it knows the parameters.
SELECT pg_catalog.set_config('plan_cache_mode',
                  CASE WHEN pg_catalog.to_regclass('pg_catalog.pg_dist_partition') IS NULL THEN 'force_generic_plan'
                       ELSE 'auto' END, false);
SET enable_seqscan TO off;
SET enable_bitmapscan TO off;
SET enable_sort TO off;
-- PostgreSQL still uses a disabled kind of plan if there is no other, at a cost that would trigger
-- compilation.
SET jit TO off;
