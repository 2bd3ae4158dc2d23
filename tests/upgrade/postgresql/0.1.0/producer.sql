DO $$ BEGIN EXECUTE format('GRANT USAGE ON SCHEMA %I TO "USER"', current_schema()); END $$;
GRANT SELECT ON "tableq_queues" TO "USER";
GRANT SELECT ON "tableq_limits" TO "USER";
GRANT INSERT (created_at, due_at, payload), SELECT (id) ON "later" TO "USER";
