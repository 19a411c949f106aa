/** Which of these kinds ($1) and names ($2) may reach code that is not PostgreSQL's own: objects made after initdb. */
export default `SELECT a.kind || ' ' || a.name AS mention
FROM ROWS FROM (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[])) AS a (kind, name)
WHERE CASE a.kind
  WHEN 'function' THEN EXISTS (
    SELECT FROM pg_catalog.pg_proc p WHERE p.proname = a.name::name AND p.oid >= 16384)
  WHEN 'attribute' THEN EXISTS (
    SELECT FROM pg_catalog.pg_proc p WHERE p.proname = a.name::name AND p.oid >= 16384
      AND p.pronargs >= 1 AND p.pronargs - p.pronargdefaults <= 1)
  WHEN 'operator' THEN EXISTS (
    SELECT FROM pg_catalog.pg_operator o WHERE o.oprname = a.name::name AND o.oid >= 16384)
  WHEN 'type' THEN EXISTS (
    SELECT FROM pg_catalog.pg_type t WHERE t.typname = a.name::name AND t.oid >= 16384
      AND (t.typtype NOT IN ('c', 'e')
        OR EXISTS (SELECT FROM pg_catalog.pg_cast c WHERE t.oid IN (c.castsource, c.casttarget))
        OR EXISTS (
          SELECT FROM pg_catalog.pg_amproc s WHERE t.oid IN (s.amproclefttype, s.amprocrighttype))
        OR EXISTS (
          SELECT FROM pg_catalog.pg_attribute c
          WHERE c.attrelid = t.typrelid AND c.attnum > 0 AND c.atttypid >= 16384)))
  -- A view, a table with policies or partitions, and one whose columns, indexes, constraints or statistics use such code.
  WHEN 'relation' THEN EXISTS (
    SELECT FROM pg_catalog.pg_class c WHERE c.relname = a.name::name AND c.oid >= 16384
      AND (c.relkind = 'v' OR c.relhassubclass
        OR EXISTS (SELECT FROM pg_catalog.pg_policy p WHERE p.polrelid = c.oid)
        OR EXISTS (
          SELECT FROM pg_catalog.pg_attribute k JOIN pg_catalog.pg_type t ON t.oid = k.atttypid
          WHERE k.attrelid = c.oid AND k.attnum > 0 AND t.oid >= 16384 AND (t.typtype <> 'e'
            OR EXISTS (SELECT FROM pg_catalog.pg_cast s WHERE t.oid IN (s.castsource, s.casttarget))))
        OR EXISTS (
          SELECT FROM (
            SELECT 'pg_catalog.pg_class'::regclass AS classid, i.indexrelid AS objid
              FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid
            UNION ALL SELECT 'pg_catalog.pg_constraint'::regclass, k.oid
              FROM pg_catalog.pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'c'
            UNION ALL SELECT 'pg_catalog.pg_statistic_ext'::regclass, s.oid
              FROM pg_catalog.pg_statistic_ext s WHERE s.stxrelid = c.oid
            UNION ALL SELECT 'pg_catalog.pg_class'::regclass, c.oid) own
          JOIN pg_catalog.pg_depend d ON d.classid = own.classid AND d.objid = own.objid
          WHERE d.refobjid >= 16384
            AND d.refclassid IN ('pg_catalog.pg_proc'::regclass, 'pg_catalog.pg_operator'::regclass))))
  -- Casts and operator classes between PostgreSQL's own types, which no statement names.
  WHEN 'always' THEN EXISTS (
      SELECT FROM pg_catalog.pg_cast c
      WHERE c.oid >= 16384 AND c.castsource < 16384 AND c.casttarget < 16384)
    OR EXISTS (
      SELECT FROM pg_catalog.pg_amproc s
      WHERE s.oid >= 16384 AND s.amproclefttype < 16384 AND s.amprocrighttype < 16384)
  ELSE true END
`;
