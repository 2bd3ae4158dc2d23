-- Messages in every state, as version 0.1.0 stores them. 4102444800000 is the year 2100.
INSERT INTO pile (payload) VALUES ('p1'), ('p2'), ('p3');
INSERT INTO line (payload) VALUES ('l1'), ('l2'), ('l3');
INSERT INTO stack (payload) VALUES ('s1'), ('s2'), ('s3');
INSERT INTO later (payload, due_at) VALUES ('due', 2000), ('due first', 1000), ('far', 4102444800000);

INSERT INTO jobs (payload, state, priority, due_at, fence, attempts, max_attempts, retry, expires_at, created_at,
                  claimed_at, finished_at, key, past_key, group_key, headers, errors)
VALUES
  ('ready', 0, 0, 0, 0, 0, NULL, NULL, NULL, 1000, NULL, NULL, 'k1', NULL, NULL, '{"type": "pdf"}', NULL),
  ('again', 0, 7, 0, 4294967301, 2, 4, '{"after": [1000, 2000], "jitter": 10}', 4102444800000, 1000, 42, NULL,
   NULL, 'k0', NULL, NULL, '[{"at": 1500, "error": "no"}]'),
  ('leased', 1, 0, 4102444800000, 4294967302, 1, NULL, NULL, NULL, 1000, 42, NULL, NULL, NULL, NULL, NULL, NULL),
  ('lease over', 1, 0, 1500, 4294967303, 1, NULL, NULL, NULL, 1000, 42, NULL, NULL, NULL, NULL, NULL, NULL),
  ('delayed', 2, 0, 4102444800000, 0, 0, NULL, NULL, NULL, 1000, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  ('delay over', 2, 0, 1500, 0, 0, NULL, NULL, NULL, 1000, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  ('done', 3, 0, 0, 4294967304, 1, NULL, NULL, NULL, 1000, 42, 2000, NULL, 'k2', NULL, NULL, NULL),
  ('done, key kept', 3, 0, 4102444800000, 4294967305, 1, NULL, NULL, NULL, 1000, 42, 2000, 'k3', NULL, NULL, NULL,
   NULL),
  ('dead', 4, 0, 0, 4294967306, 5, NULL, NULL, NULL, 1000, 42, 2000, NULL, NULL, NULL, NULL,
   '[{"at": 1500, "error": "no"}]'),
  ('head', 1, 0, 4102444800000, 4294967307, 1, NULL, NULL, NULL, 1000, 42, NULL, NULL, NULL, 'g', NULL, NULL),
  ('held', 5, 0, 0, 0, 0, NULL, NULL, NULL, 1000, NULL, NULL, NULL, NULL, 'g', NULL, NULL);
