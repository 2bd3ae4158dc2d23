#pragma once

namespace tableq_test {

/// Makes `overload` of each pair of types, the operators and the functions `{names}` on them that
/// the server lacks, and those of one type and of some pairs. They return a type that fits nowhere:
/// a statement that chooses one of them is refused.
inline constexpr const char* postgresql_overloads = R"sql(
DO $$
DECLARE
  types text[] := ARRAY['smallint', 'integer', 'bigint', 'numeric', 'double precision', 'text', 'name', 'varchar', '"char"',
                        'bytea', 'jsonb', 'oid', 'regclass', 'bigint[]', 'text[]', 'bytea[]'];
  signs text[] := ARRAY['=', '<>', '<', '<=', '>', '>=', '+', '-', '*', '/', '||', '->', '>>', '<<', '&', '~', '~~'];
  body text := ' RETURNS overloaded LANGUAGE plpgsql AS ''BEGIN RAISE EXCEPTION $x$overloaded$x$; END''';
  a text;
  b text;
  sign text;
  called text;
BEGIN
  FOREACH a IN ARRAY types LOOP
    FOREACH b IN ARRAY types LOOP
      EXECUTE format('CREATE FUNCTION overload(%s, %s)', a, b) || body;
      FOREACH sign IN ARRAY signs LOOP
        CONTINUE WHEN EXISTS (SELECT FROM pg_operator
                              WHERE oprnamespace = 'pg_catalog'::regnamespace AND oprname = sign
                                AND oprleft = a::regtype AND oprright = b::regtype);
        EXECUTE format('CREATE OPERATOR %s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = overload)', sign, a, b);
      END LOOP;
    END LOOP;
  END LOOP;
  FOR called, a, b IN
    SELECT f.name, x.type, y.type
    FROM unnest(string_to_array('{names}', ' ')) AS f (name)
    CROSS JOIN unnest(types) AS x (type)
    CROSS JOIN unnest(ARRAY[NULL, 'integer', 'text', 'bigint[]', 'text[]']) AS y (type)
    WHERE EXISTS (SELECT FROM pg_proc AS p
                  WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname = f.name
                    AND p.pronargs >= CASE WHEN y.type IS NULL THEN 1 ELSE 2 END)
      AND NOT EXISTS (SELECT FROM pg_proc AS p
                      WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname = f.name
                        AND oidvectortypes(p.proargtypes)
                              = concat_ws(', ', format_type(x.type::regtype, NULL), format_type(y.type::regtype, NULL)))
  LOOP
    EXECUTE format('CREATE FUNCTION %I(%s)', called, concat_ws(', ', a, b)) || body;
  END LOOP;
END $$)sql";

}  // namespace tableq_test
