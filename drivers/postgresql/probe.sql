-- Prepared under a name, to see which session of the server has it.
SELECT 1 AS probe
