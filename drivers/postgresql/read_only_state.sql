-- 1 if the session cannot write: the server is a standby, or the session's default forbids it. A trigger may raise the
-- same error for one row.
SELECT CASE WHEN pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' THEN 1 ELSE 0 END
  AS read_only_state
