-- What the steps to layout 2 give to a user with rights of version 0.1.0.
SELECT CASE WHEN has_table_privilege('USER', 'tableq_floors', 'SELECT')
              AND has_table_privilege('USER', 'tableq_floors', 'INSERT')
              AND has_table_privilege('USER', 'tableq_floors', 'UPDATE')
              AND NOT has_table_privilege('USER', 'tableq_floors', 'DELETE')
              AND NOT has_column_privilege('USER', 'later', 'due_at', 'INSERT') THEN 'consumer'
            WHEN has_column_privilege('USER', 'later', 'due_at', 'INSERT')
              AND NOT has_any_column_privilege('USER', 'tableq_floors', 'SELECT, INSERT, UPDATE')
              AND NOT has_column_privilege('USER', 'later', 'payload', 'SELECT') THEN 'producer'
            ELSE 'other' END;
