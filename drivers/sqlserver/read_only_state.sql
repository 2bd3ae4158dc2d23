-- 1 if the session's database takes no writes: on a secondary replica, or after ALTER DATABASE ... SET READ_ONLY.
SELECT CASE WHEN DATABASEPROPERTYEX(DB_NAME(), 'Updateability') = 'READ_ONLY' THEN 1 ELSE 0 END AS read_only_state
