-- Which of these operators ($1), functions ($2), functions in attribute notation ($3), types ($4) and relations ($5) may
-- reach code that is not PostgreSQL's own: objects made after initdb. It runs before every read.
SELECT pg_catalog.concat('operator ', o.oprname) AS mention FROM pg_catalog.pg_operator o WHERE o.oid >= 16384 AND o.oprname = ANY ($1::name[])
UNION ALL SELECT pg_catalog.concat('function ', p.proname) FROM pg_catalog.pg_proc p WHERE p.oid >= 16384 AND p.proname = ANY ($2::name[])
UNION ALL SELECT pg_catalog.concat('attribute ', p.proname) FROM pg_catalog.pg_proc p
  WHERE p.oid >= 16384 AND p.proname = ANY ($3::name[]) AND p.pronargs >= 1 AND p.pronargs - p.pronargdefaults <= 1
-- What no statement names: casts, and support functions of operator classes.
UNION ALL SELECT 'always ' FROM pg_catalog.pg_cast s WHERE s.oid >= 16384 AND s.castsource < 16384 AND s.casttarget < 16384
UNION ALL SELECT 'always ' FROM pg_catalog.pg_amproc s WHERE s.oid >= 16384 AND s.amproclefttype < 16384 AND s.amprocrighttype < 16384
-- A type, and a table or composite type by those of its columns. Enums and row types run no code of their own.
UNION ALL SELECT pg_catalog.concat(CASE WHEN t.typname = ANY ($5::name[]) THEN 'name ' ELSE 'type ' END, t.typname) FROM pg_catalog.pg_type t CROSS JOIN LATERAL (
    SELECT t.oid, t.typtype IN ('c', 'e') AS is_plain UNION ALL SELECT k.oid, k.typtype = 'e' FROM pg_catalog.pg_attribute c
      JOIN pg_catalog.pg_type k ON k.oid = c.atttypid WHERE c.attrelid = t.typrelid AND c.attnum > 0 AND c.atttypid >= 16384) u
  WHERE t.oid >= 16384 AND t.typname = ANY ($4::name[] || $5::name[]) AND (NOT u.is_plain
    OR EXISTS (SELECT FROM pg_catalog.pg_cast s WHERE s.oid >= 16384 AND u.oid IN (s.castsource, s.casttarget))
    OR EXISTS (SELECT FROM pg_catalog.pg_amproc s WHERE s.oid >= 16384 AND u.oid IN (s.amproclefttype, s.amprocrighttype)))
-- A view, a table with policies or partitions, and one whose columns, indexes, constraints or statistics use such code.
UNION ALL SELECT pg_catalog.concat('name ', c.relname) FROM pg_catalog.pg_class c
  WHERE c.oid >= 16384 AND c.relname = ANY ($5::name[]) AND (c.relkind = 'v' OR c.relhassubclass OR c.relrowsecurity
    OR EXISTS (SELECT FROM (
        SELECT 'pg_catalog.pg_class'::regclass AS classid, i.indexrelid AS objid FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid
        UNION ALL SELECT 'pg_catalog.pg_constraint'::regclass, k.oid FROM pg_catalog.pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'c'
        UNION ALL SELECT 'pg_catalog.pg_statistic_ext'::regclass, s.oid FROM pg_catalog.pg_statistic_ext s WHERE s.stxrelid = c.oid
        UNION ALL SELECT 'pg_catalog.pg_class'::regclass, c.oid) own
      JOIN pg_catalog.pg_depend d ON d.classid = own.classid AND d.objid = own.objid
      WHERE d.refobjid >= 16384 AND d.refclassid IN ('pg_catalog.pg_proc'::regclass, 'pg_catalog.pg_operator'::regclass)))
UNION ALL SELECT 'encoding' WHERE pg_catalog.getdatabaseencoding() <> 'UTF8'
