-- Messages in every state, as version 0.1.0 stores them. 4102444800000 is the year 2100.
INSERT INTO pile (payload) VALUES (CAST('p1' AS varbinary(max))), (CAST('p2' AS varbinary(max))), (CAST('p3' AS varbinary(max)));
INSERT INTO line (payload) VALUES (CAST('l1' AS varbinary(max))), (CAST('l2' AS varbinary(max))), (CAST('l3' AS varbinary(max)));
INSERT INTO stack (payload) VALUES (CAST('s1' AS varbinary(max))), (CAST('s2' AS varbinary(max))), (CAST('s3' AS varbinary(max)));
INSERT INTO later (payload, due_at) VALUES (CAST('due' AS varbinary(max)), 2000), (CAST('due first' AS varbinary(max)), 1000), (CAST('far' AS varbinary(max)), 4102444800000);

INSERT INTO jobs (payload, state, priority, due_at, fence, attempts, max_attempts, retry, expires_at, created_at,
                  claimed_at, finished_at, [key], past_key, group_key, headers, errors)
VALUES
  (CAST('ready' AS varbinary(max)), 0, 0, 0, 0, 0, NULL, NULL, NULL, 1000, NULL, NULL, CAST(N'k1' AS varbinary(400)), NULL, NULL, '{"type": "pdf"}', NULL),
  (CAST('again' AS varbinary(max)), 0, 7, 0, 4294967301, 2, 4, '{"after": [1000, 2000], "jitter": 10}', 4102444800000, 1000, 42, NULL,
   NULL, CAST(N'k0' AS varbinary(400)), NULL, NULL, '[{"at": 1500, "error": "no"}]'),
  (CAST('leased' AS varbinary(max)), 1, 0, 4102444800000, 4294967302, 1, NULL, NULL, NULL, 1000, 42, NULL, NULL, NULL, NULL, NULL, NULL),
  (CAST('lease over' AS varbinary(max)), 1, 0, 1500, 4294967303, 1, NULL, NULL, NULL, 1000, 42, NULL, NULL, NULL, NULL, NULL, NULL),
  (CAST('delayed' AS varbinary(max)), 2, 0, 4102444800000, 0, 0, NULL, NULL, NULL, 1000, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  (CAST('delay over' AS varbinary(max)), 2, 0, 1500, 0, 0, NULL, NULL, NULL, 1000, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  (CAST('done' AS varbinary(max)), 3, 0, 0, 4294967304, 1, NULL, NULL, NULL, 1000, 42, 2000, NULL, CAST(N'k2' AS varbinary(400)), NULL, NULL, NULL),
  (CAST('done, key kept' AS varbinary(max)), 3, 0, 4102444800000, 4294967305, 1, NULL, NULL, NULL, 1000, 42, 2000, CAST(N'k3' AS varbinary(400)), NULL, NULL, NULL,
   NULL),
  (CAST('dead' AS varbinary(max)), 4, 0, 0, 4294967306, 5, NULL, NULL, NULL, 1000, 42, 2000, NULL, NULL, NULL, NULL,
   '[{"at": 1500, "error": "no"}]'),
  (CAST('head' AS varbinary(max)), 1, 0, 4102444800000, 4294967307, 1, NULL, NULL, NULL, 1000, 42, NULL, NULL, NULL, CAST(N'g' AS varbinary(400)), NULL, NULL),
  (CAST('held' AS varbinary(max)), 5, 0, 0, 0, 0, NULL, NULL, NULL, 1000, NULL, NULL, NULL, NULL, CAST(N'g' AS varbinary(400)), NULL, NULL);
