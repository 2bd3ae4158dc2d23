-- Fails while there are schedules, batches or limits of groups.

-- name: 1.transaction
SET LOCAL lock_timeout = '100ms';

DO $rows$
BEGIN
  IF EXISTS (SELECT 1 FROM {schedules}) OR EXISTS (SELECT 1 FROM {batches}) OR EXISTS (SELECT 1 FROM {members})
    OR EXISTS (SELECT 1 FROM {quotas}) THEN
    RAISE check_violation USING MESSAGE = 'there are schedules, batches or limits of groups, which layout 2 does not know';
  END IF;
END
$rows$;

DROP TABLE IF EXISTS {schedules}, {batches}, {members}, {quotas}, {starts};
