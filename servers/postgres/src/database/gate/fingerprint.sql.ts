export default `-- Changes whenever a function, operator, cast, support function of an operator class, domain constraint, policy or view
-- is created, replaced or dropped, or a function or operator is used by an index, constraint, partition key or statistics. Runs under the search path of the session, so every name is qualified.
SELECT pg_catalog.concat_ws(',',
  (SELECT pg_catalog.concat(pg_catalog.count(*), ':', pg_catalog.sum(xmin::pg_catalog.text::pg_catalog.int8)) FROM pg_catalog.pg_proc WHERE oid OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid),
  (SELECT pg_catalog.concat(pg_catalog.count(*), ':', pg_catalog.sum(xmin::pg_catalog.text::pg_catalog.int8)) FROM pg_catalog.pg_operator WHERE oid OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid),
  (SELECT pg_catalog.concat(pg_catalog.count(*), ':', pg_catalog.sum(xmin::pg_catalog.text::pg_catalog.int8)) FROM pg_catalog.pg_cast WHERE oid OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid),
  (SELECT pg_catalog.concat(pg_catalog.count(*), ':', pg_catalog.sum(xmin::pg_catalog.text::pg_catalog.int8)) FROM pg_catalog.pg_amproc WHERE oid OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid),
  (SELECT pg_catalog.concat(pg_catalog.count(*), ':', pg_catalog.sum(xmin::pg_catalog.text::pg_catalog.int8)) FROM pg_catalog.pg_constraint WHERE contypid OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid),
  (SELECT pg_catalog.concat(pg_catalog.count(*), ':', pg_catalog.sum(xmin::pg_catalog.text::pg_catalog.int8)) FROM pg_catalog.pg_policy),
  (SELECT pg_catalog.concat(pg_catalog.count(*), ':', pg_catalog.sum(xmin::pg_catalog.text::pg_catalog.int8)) FROM pg_catalog.pg_rewrite WHERE oid OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid),
  (SELECT pg_catalog.concat(pg_catalog.count(*), ':', pg_catalog.sum(xmin::pg_catalog.text::pg_catalog.int8)) FROM pg_catalog.pg_depend
    WHERE refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass::pg_catalog.oid AND refobjid OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid
      AND classid OPERATOR(pg_catalog.=) ANY (ARRAY['pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid, 'pg_catalog.pg_constraint'::pg_catalog.regclass::pg_catalog.oid,
        'pg_catalog.pg_statistic_ext'::pg_catalog.regclass::pg_catalog.oid])),
  (SELECT pg_catalog.concat(pg_catalog.count(*), ':', pg_catalog.sum(xmin::pg_catalog.text::pg_catalog.int8)) FROM pg_catalog.pg_depend
    WHERE refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_operator'::pg_catalog.regclass::pg_catalog.oid AND refobjid OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid
      AND classid OPERATOR(pg_catalog.=) ANY (ARRAY['pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid, 'pg_catalog.pg_constraint'::pg_catalog.regclass::pg_catalog.oid,
        'pg_catalog.pg_statistic_ext'::pg_catalog.regclass::pg_catalog.oid]))
) AS now
`;
