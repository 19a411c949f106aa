-- Which of these kinds ($1) and names ($2), by position, may reach code that is not PostgreSQL's own: objects made after initdb.
-- It runs before every read, so it is written for the planner, and names nothing that the search path could replace.
WITH code AS MATERIALIZED (
  -- What no statement names: casts, and support functions of operator classes.
  SELECT s.castsource AS one, s.casttarget AS other FROM pg_catalog.pg_cast s WHERE s.oid >= 16384
  UNION ALL SELECT s.amproclefttype, s.amprocrighttype FROM pg_catalog.pg_amproc s WHERE s.oid >= 16384)
SELECT a.at FROM ROWS FROM (pg_catalog.unnest($1::pg_catalog.text[]), pg_catalog.unnest($2::pg_catalog.name[])) WITH ORDINALITY AS a (kind, name, at)
WHERE CASE
  WHEN a.kind = 'operator' THEN a.name = ANY (SELECT o.oprname FROM pg_catalog.pg_operator o WHERE o.oid >= 16384)
  WHEN a.kind = 'function' OR a.kind = 'attribute' THEN EXISTS (
    SELECT FROM pg_catalog.pg_proc p WHERE p.proname = a.name AND p.oid >= 16384
      AND (a.kind = 'function' OR p.pronargs >= 1 AND p.pronargs - p.pronargdefaults <= 1))
  WHEN a.kind = 'type' THEN (
    SELECT pg_catalog.bool_or(t.typtype <> 'c' AND t.typtype <> 'e'
      OR EXISTS (SELECT FROM code s WHERE t.oid = s.one OR t.oid = s.other)
      OR EXISTS (SELECT FROM pg_catalog.pg_attribute c WHERE c.attrelid = t.typrelid AND c.attnum > 0 AND c.atttypid >= 16384))
    FROM pg_catalog.pg_type t WHERE t.typname = a.name AND t.oid >= 16384)
  -- A view, a table with policies or partitions, and one whose columns, indexes, constraints or statistics use such code.
  WHEN a.kind = 'relation' THEN (
    SELECT pg_catalog.bool_or(c.relkind = 'v' OR c.relhassubclass OR c.relrowsecurity
      OR EXISTS (SELECT FROM pg_catalog.pg_attribute k JOIN pg_catalog.pg_type t ON t.oid = k.atttypid
        WHERE k.attrelid = c.oid AND k.attnum > 0 AND k.atttypid >= 16384
          AND (t.typtype <> 'e' OR EXISTS (SELECT FROM code s WHERE t.oid = s.one OR t.oid = s.other)))
      OR EXISTS (SELECT FROM (
          SELECT 'pg_catalog.pg_class'::pg_catalog.regclass AS classid, i.indexrelid AS objid FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid
          UNION ALL SELECT 'pg_catalog.pg_constraint'::pg_catalog.regclass, k.oid FROM pg_catalog.pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'c'
          UNION ALL SELECT 'pg_catalog.pg_statistic_ext'::pg_catalog.regclass, s.oid FROM pg_catalog.pg_statistic_ext s WHERE s.stxrelid = c.oid
          UNION ALL SELECT 'pg_catalog.pg_class'::pg_catalog.regclass, c.oid) own
        JOIN pg_catalog.pg_depend d ON d.classid = own.classid AND d.objid = own.objid
        WHERE d.refobjid >= 16384 AND (d.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass
          OR d.refclassid = 'pg_catalog.pg_operator'::pg_catalog.regclass)))
    FROM pg_catalog.pg_class c WHERE c.relname = a.name AND c.oid >= 16384)
  WHEN a.kind = 'always' THEN EXISTS (SELECT FROM code s WHERE s.one < 16384 AND s.other < 16384)
  ELSE true END
