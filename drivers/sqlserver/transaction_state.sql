-- 1 in a transaction that can be committed, -1 in one that cannot, 0 outside of any: an error of the application's
-- statements ends the transaction, and the driver does not tell.
SELECT XACT_STATE() AS transaction_state
