-- 1 if the session cannot write: the server is a standby, or the session's default forbids it. A trigger may raise the
-- same error for one row.
SELECT CASE WHEN pg_catalog.pg_is_in_recovery()
                 OR pg_catalog.current_setting('transaction_read_only') OPERATOR(pg_catalog.=) 'on'
            THEN 1 ELSE 0 END AS read_only_state
