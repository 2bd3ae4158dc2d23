-- What each session of tableq begins with: one round trip.
SET client_encoding TO 'UTF8';
-- Through ODBC arrays travel as text.
SET array_nulls TO on;
-- Above it, readers that meet fail with 40001 instead of stepping aside.
SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED;
-- A plan is made once and kept. It may be made while the table is empty, where reading all of it and
-- sorting looks cheapest, and must still be right when a million messages wait: so it may only follow an
-- index.
SET plan_cache_mode TO force_generic_plan;
SET enable_seqscan TO off;
SET enable_bitmapscan TO off;
SET enable_sort TO off;
-- What is switched off is planned all the same where there is no other way, at a price that would have
-- the statement compiled.
SET jit TO off;
