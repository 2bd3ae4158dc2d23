DO $$ BEGIN EXECUTE format('GRANT USAGE ON SCHEMA %I TO "USER"', current_schema()); END $$;
GRANT SELECT ON "tableq_queues" TO "USER";
GRANT SELECT ON "tableq_limits" TO "USER";
GRANT SELECT, UPDATE (created_at), DELETE ON "later" TO "USER";
GRANT UPDATE (tokens, refilled_at) ON "tableq_limits" TO "USER";
GRANT SELECT, DELETE,
      UPDATE (state, due_at, fence, attempts, claimed_at, finished_at, key, past_key, errors)
ON "jobs" TO "USER";
