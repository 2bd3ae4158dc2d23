-- The process of the server that runs this.
SELECT pg_catalog.pg_backend_pid() AS process
