-- What the objects of these kinds ($1) and names ($2) execute: "reason" if that alone refuses it, "body" with its
-- statements, "texts" with its expressions, and the names of the "functions", "operators" and "types" that it uses. For a change ($3)
-- also triggers, rules, defaults and all policies, here and where foreign keys lead.
WITH asked AS (SELECT a.kind, a.name::name AS name FROM ROWS FROM (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[])) AS a (kind, name)),
relation AS (
  SELECT a.kind, a.name AS asked, c.oid, c.relkind FROM asked a
    JOIN pg_catalog.pg_class c ON a.kind = 'relation' AND c.relname = a.name AND c.oid >= 16384 AND c.relkind IN ('r', 'p', 'v', 'f', 'm')
),
-- With its partitions and children, which are read with it.
tree AS (
  WITH RECURSIVE below AS (
    SELECT oid AS root, oid FROM relation
    UNION SELECT b.root, i.next FROM below b CROSS JOIN LATERAL (SELECT inhrelid AS next FROM pg_catalog.pg_inherits WHERE inhparent = b.oid
      UNION ALL SELECT conrelid FROM pg_catalog.pg_constraint WHERE $3::bool AND contype = 'f' AND confrelid = b.oid AND (confdeltype IN ('c', 'n', 'd') OR confupdtype IN ('c', 'n', 'd')
        OR EXISTS (SELECT FROM pg_catalog.pg_trigger WHERE tgrelid = conrelid AND NOT tgisinternal AND tgtype & 32 <> 0))) i)
  SELECT root, oid FROM below
),
-- Whose constant parts PostgreSQL computes when it plans a read of the table.
planned AS (
  SELECT t.root, 'pg_catalog.pg_class'::regclass AS classid, i.indexrelid AS objid FROM tree t JOIN pg_catalog.pg_index i ON i.indrelid = t.oid
  UNION ALL SELECT t.root, 'pg_catalog.pg_constraint'::regclass, c.oid FROM tree t JOIN pg_catalog.pg_constraint c ON c.conrelid = t.oid AND c.contype = 'c'
  UNION ALL SELECT t.root, 'pg_catalog.pg_statistic_ext'::regclass, s.oid FROM tree t JOIN pg_catalog.pg_statistic_ext s ON s.stxrelid = t.oid
  UNION ALL SELECT t.root, 'pg_catalog.pg_class'::regclass, t.oid FROM tree t
),
type AS (
  SELECT a.kind, a.name AS asked, t.* FROM asked a JOIN pg_catalog.pg_type t ON a.kind = 'type' AND t.typname = a.name AND t.oid >= 16384
)
SELECT a.kind, a.name::text AS name, pg_catalog.concat('function ', p.oid::regprocedure) AS object,
  p.proname::text AS function, l.lanname = 'c' AS compiled, e.isextension AS extension,
  CASE
    WHEN p.prokind = 'a' THEN NULL
    WHEN l.lanname IN ('sql', 'plpgsql') THEN
      CASE WHEN p.proconfig::text ~* '(standard_conforming_strings|backslash_quote)=' THEN 'changes how its own text is read' END
    WHEN l.lanname = 'internal' THEN CASE WHEN own.names IS NULL THEN 'is written in C' END
    WHEN l.lanname <> 'c' THEN pg_catalog.concat('is written in ', l.lanname, ', which can''t be checked')
    WHEN NOT e.isextension THEN 'is written in C'
    WHEN p.provolatile = 'v' THEN 'is written in C and declared VOLATILE'
  END AS reason,
  CASE WHEN l.lanname IN ('sql', 'plpgsql') THEN p.prosrc END AS body,
  CASE WHEN l.lanname IN ('sql', 'plpgsql') AND p.prokind <> 'a' THEN ARRAY[pg_catalog.pg_get_functiondef(p.oid)] END AS texts,
  CASE WHEN p.prokind = 'a' THEN (
    SELECT pg_catalog.array_agg(f.proname::text) FROM pg_catalog.pg_aggregate g JOIN pg_catalog.pg_proc f ON f.oid IN (g.aggtransfn, g.aggfinalfn,
      g.aggcombinefn, g.aggserialfn, g.aggdeserialfn, g.aggmtransfn, g.aggminvtransfn, g.aggmfinalfn) WHERE g.aggfnoid = p.oid)
  ELSE own.names END AS functions,
  NULL::text[] AS operators, NULL::text[] AS types
FROM asked a
  JOIN pg_catalog.pg_proc p ON p.proname = a.name AND p.oid >= 16384 AND (a.kind = 'function'
    OR (a.kind = 'attribute' AND p.pronargs >= 1 AND p.pronargs - p.pronargdefaults <= 1))
  JOIN pg_catalog.pg_language l ON l.oid = p.prolang
  CROSS JOIN LATERAL (SELECT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e') AS isextension) e
  -- Another name for a function of PostgreSQL.
  CROSS JOIN LATERAL (SELECT pg_catalog.array_agg(b.proname::text) AS names FROM pg_catalog.pg_proc b
    WHERE l.lanname = 'internal' AND b.prosrc = p.prosrc AND b.prolang = p.prolang AND b.oid < 16384) own
UNION ALL
SELECT a.kind, a.name::text, pg_catalog.concat('operator ', o.oid::regoperator), NULL, false, false, NULL, NULL, NULL,
  ARRAY(SELECT f.proname::text FROM pg_catalog.pg_operator s JOIN pg_catalog.pg_proc f ON f.oid IN (s.oprcode, s.oprrest, s.oprjoin)
    -- The planner may replace it by these.
    WHERE s.oid IN (o.oid, o.oprcom, o.oprnegate)), NULL, NULL
FROM asked a JOIN pg_catalog.pg_operator o ON a.kind = 'operator' AND o.oprname = a.name AND o.oid >= 16384
UNION ALL
SELECT kind, asked::text, pg_catalog.concat('view ', oid::regclass), NULL, false, false, NULL, NULL, ARRAY[pg_catalog.pg_get_viewdef(oid)], NULL, NULL, NULL
FROM relation WHERE relkind = 'v' OR ($3 AND relkind = 'm')
  -- Whoever installs extensions as a superuser vouches for their views of statistics, whose functions are in C.
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension x ON x.oid = d.refobjid AND d.deptype = 'e'
    JOIN pg_catalog.pg_roles o ON o.oid = x.extowner AND o.rolsuper WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = relation.oid)
UNION ALL
SELECT r.kind, r.asked::text, pg_catalog.concat('policy ', pg_catalog.quote_ident(p.polname), ' on ', r.oid::regclass), NULL, false, false, NULL, NULL,
  pg_catalog.array_remove(ARRAY[pg_catalog.pg_get_expr(p.polqual, p.polrelid), pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid)], NULL), NULL, NULL, NULL
FROM relation r JOIN pg_catalog.pg_policy p ON p.polrelid = r.oid AND ($3 OR (p.polcmd IN ('r', '*') AND p.polqual IS NOT NULL))
UNION ALL
SELECT r.kind, r.asked::text, pg_catalog.concat('table ', r.oid::regclass), NULL, false, false, NULL, NULL,
  ARRAY(SELECT pg_catalog.pg_get_expr(d.adbin, d.adrelid) FROM tree t JOIN pg_catalog.pg_attrdef d ON d.adrelid = t.oid WHERE t.root = r.oid
    UNION ALL SELECT pg_catalog.pg_get_ruledef(w.oid) FROM tree t JOIN pg_catalog.pg_rewrite w ON w.ev_class = t.oid AND w.ev_type <> '1' WHERE t.root = r.oid),
  ARRAY(SELECT f.proname::text FROM tree t JOIN pg_catalog.pg_trigger g ON g.tgrelid = t.oid AND NOT g.tgisinternal AND g.tgenabled <> 'D'
    JOIN pg_catalog.pg_proc f ON f.oid = g.tgfoid WHERE t.root = r.oid), NULL, NULL
FROM relation r WHERE $3
UNION ALL
SELECT r.kind, r.asked::text, pg_catalog.concat('table ', r.oid::regclass), NULL, false, false, NULL, NULL, NULL,
  ARRAY(SELECT DISTINCT f.proname::text FROM planned p JOIN pg_catalog.pg_depend d ON d.classid = p.classid AND d.objid = p.objid
    AND d.refclassid = 'pg_catalog.pg_proc'::regclass JOIN pg_catalog.pg_proc f ON f.oid = d.refobjid WHERE p.root = r.oid),
  ARRAY(SELECT DISTINCT o.oprname::text FROM planned p JOIN pg_catalog.pg_depend d ON d.classid = p.classid AND d.objid = p.objid
    AND d.refclassid = 'pg_catalog.pg_operator'::regclass JOIN pg_catalog.pg_operator o ON o.oid = d.refobjid WHERE p.root = r.oid),
  ARRAY(SELECT DISTINCT t.typname::text FROM pg_catalog.pg_attribute c JOIN pg_catalog.pg_type t ON t.oid = c.atttypid
    WHERE c.attrelid = r.oid AND c.attnum > 0 AND t.oid >= 16384)
FROM relation r
UNION ALL
SELECT t.kind, t.asked::text, pg_catalog.concat('type ', t.oid::regtype), NULL, false, false, NULL, NULL,
  ARRAY(SELECT pg_catalog.pg_get_constraintdef(c.oid) FROM pg_catalog.pg_constraint c WHERE c.contypid = t.oid),
  ARRAY(SELECT f.proname::text FROM pg_catalog.pg_cast c JOIN pg_catalog.pg_proc f ON f.oid = c.castfunc WHERE t.oid IN (c.castsource, c.casttarget)
    UNION SELECT f.proname::text FROM pg_catalog.pg_amproc s JOIN pg_catalog.pg_proc f ON f.oid = s.amproc
      WHERE t.oid IN (s.amproclefttype, s.amprocrighttype)
    UNION SELECT f.proname::text FROM pg_catalog.pg_range g JOIN pg_catalog.pg_proc f ON f.oid IN (g.rngcanonical, g.rngsubdiff) WHERE g.rngtypid = t.oid),
  NULL,
  ARRAY(SELECT u.typname::text FROM pg_catalog.pg_type u WHERE u.oid >= 16384 AND (u.oid IN (t.typelem, t.typbasetype)
    OR u.oid IN (SELECT c.atttypid FROM pg_catalog.pg_attribute c WHERE c.attrelid = t.typrelid AND t.typrelid <> 0)
    OR u.oid IN (SELECT g.rngsubtype FROM pg_catalog.pg_range g WHERE t.oid = g.rngtypid)))
FROM type t
UNION ALL
-- What no statement names: domains, casts, operator classes, and what indexes, constraints and statistics use.
SELECT a.kind, a.name::text, 'database', NULL, false, false, NULL, NULL, NULL,
  ARRAY(SELECT f.proname::text FROM pg_catalog.pg_cast c JOIN pg_catalog.pg_proc f ON f.oid = c.castfunc WHERE c.oid >= 16384
    UNION SELECT f.proname::text FROM pg_catalog.pg_amproc s JOIN pg_catalog.pg_proc f ON f.oid = s.amproc WHERE s.oid >= 16384
    UNION SELECT f.proname::text FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_proc f ON f.oid = d.refobjid AND f.provolatile = 'i'
      WHERE d.refclassid = 'pg_catalog.pg_proc'::regclass AND d.classid = ANY (ARRAY['pg_catalog.pg_class'::regclass, 'pg_catalog.pg_constraint'::regclass, 'pg_catalog.pg_statistic_ext'::regclass])),
  ARRAY(SELECT DISTINCT o.oprname::text FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_operator o ON o.oid = d.refobjid
    WHERE d.refclassid = 'pg_catalog.pg_operator'::regclass AND d.classid = ANY (ARRAY['pg_catalog.pg_class'::regclass, 'pg_catalog.pg_constraint'::regclass, 'pg_catalog.pg_statistic_ext'::regclass])),
  ARRAY(SELECT t.typname::text FROM pg_catalog.pg_constraint c JOIN pg_catalog.pg_type t ON t.oid = c.contypid WHERE c.contypid >= 16384)
FROM asked a WHERE a.kind = 'database'
UNION ALL
-- Casts and operator classes between PostgreSQL's own types, which every statement may use.
SELECT a.kind, a.name::text, 'cast or operator class of a type of PostgreSQL', NULL, false, false, NULL, NULL, NULL,
  ARRAY(SELECT f.proname::text FROM pg_catalog.pg_cast c JOIN pg_catalog.pg_proc f ON f.oid = c.castfunc
      WHERE c.oid >= 16384 AND c.castsource < 16384 AND c.casttarget < 16384
    UNION SELECT f.proname::text FROM pg_catalog.pg_amproc s JOIN pg_catalog.pg_proc f ON f.oid = s.amproc
      WHERE s.oid >= 16384 AND s.amproclefttype < 16384 AND s.amprocrighttype < 16384
    UNION SELECT f.proname::text FROM pg_catalog.pg_event_trigger e JOIN pg_catalog.pg_proc f ON f.oid = e.evtfoid WHERE $3 AND e.evtenabled <> 'D'), NULL, NULL
FROM asked a WHERE a.kind = 'always'
