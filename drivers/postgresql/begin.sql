-- To see whether the way to the server lets a transaction begin.
BEGIN
