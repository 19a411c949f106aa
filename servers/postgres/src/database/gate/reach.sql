-- What the objects of these mentions ($1, kind and name) execute, a row for each fact: a "reason" to refuse it, the name of a
-- function in a "library" or of a "volatile" one, "statements", an "expression", or a "function", "operator" or "type" that it
-- uses. For a change ($2) also triggers, rules, defaults and all policies, here and where foreign keys lead.
WITH asked AS (SELECT mention, pg_catalog.split_part(mention, ' ', 1) AS kind, pg_catalog.substr(mention, pg_catalog.strpos(mention, ' ') + 1) AS name
  FROM pg_catalog.unnest($1::text[]) AS mention),
relation AS (
  SELECT a.mention, c.oid, c.relkind, pg_catalog.concat('table ', c.oid::regclass) AS object FROM asked a
    JOIN pg_catalog.pg_class c ON a.kind = 'name' AND c.relname = a.name::name AND c.oid >= 16384 AND c.relkind IN ('r', 'p', 'v', 'f', 'm')
),
-- With its partitions and children, which are read with it.
tree AS (
  WITH RECURSIVE below AS (
    SELECT r.oid AS root, r.* FROM relation r
    UNION SELECT b.root, b.mention, i.next, b.relkind, b.object FROM below b CROSS JOIN LATERAL (SELECT inhrelid AS next FROM pg_catalog.pg_inherits WHERE inhparent = b.oid
      UNION ALL SELECT conrelid FROM pg_catalog.pg_constraint WHERE $2::bool AND contype = 'f' AND confrelid = b.oid AND (confdeltype IN ('c', 'n', 'd') OR confupdtype IN ('c', 'n', 'd')
        OR EXISTS (SELECT FROM pg_catalog.pg_trigger WHERE tgrelid = conrelid AND NOT tgisinternal AND tgtype & 32 <> 0))) i)
  SELECT * FROM below
),
routine AS (
  SELECT a.mention, p.*, l.lanname, pg_catalog.concat('function ', p.oid::regprocedure) AS object, l.lanname IN ('sql', 'plpgsql') AS readable,
    EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e') AS extension
  FROM asked a JOIN pg_catalog.pg_proc p ON p.proname = a.name::name AND p.oid >= 16384 AND (a.kind = 'function'
      OR (a.kind = 'attribute' AND p.pronargs >= 1 AND p.pronargs - p.pronargdefaults <= 1))
    JOIN pg_catalog.pg_language l ON l.oid = p.prolang
),
-- Another name for a function of PostgreSQL.
own AS (SELECT r.oid, b.proname FROM routine r JOIN pg_catalog.pg_proc b
  ON r.lanname = 'internal' AND r.prokind <> 'a' AND b.prosrc = r.prosrc AND b.prolang = r.prolang AND b.oid < 16384)
SELECT r.mention, r.object, r.proname::text AS function, f.fact, f.value::text FROM routine r CROSS JOIN LATERAL (
  SELECT 'reason' AS fact, CASE
    WHEN r.readable THEN CASE WHEN r.proconfig::text ~* '(standard_conforming_strings|backslash_quote)=' THEN 'changes how its own text is read' END
    WHEN r.lanname NOT IN ('c', 'internal') THEN pg_catalog.concat('is written in ', r.lanname, ', which can''t be checked')
    WHEN CASE r.lanname WHEN 'c' THEN NOT r.extension ELSE r.prokind <> 'a' AND r.oid NOT IN (SELECT oid FROM own) END THEN 'is written in C' END AS value
  UNION ALL SELECT CASE WHEN r.extension AND r.provolatile = 'v' THEN 'volatile' ELSE 'library' END, r.proname WHERE r.lanname = 'c'
  UNION ALL SELECT 'statements', r.prosrc WHERE r.readable
  UNION ALL SELECT 'expression', pg_catalog.pg_get_functiondef(r.oid) WHERE r.readable
  UNION ALL SELECT 'function', o.proname FROM own o WHERE o.oid = r.oid
  UNION ALL SELECT 'function', f.proname FROM pg_catalog.pg_aggregate g JOIN pg_catalog.pg_proc f ON f.oid IN (g.aggtransfn, g.aggfinalfn,
    g.aggcombinefn, g.aggserialfn, g.aggdeserialfn, g.aggmtransfn, g.aggminvtransfn, g.aggmfinalfn) WHERE g.aggfnoid = r.oid) f WHERE f.value IS NOT NULL
UNION ALL
-- With its commutator and negator, by which the planner may replace it.
SELECT a.mention, pg_catalog.concat('operator ', o.oid::regoperator), NULL, 'function', f.proname FROM asked a
  JOIN pg_catalog.pg_operator o ON a.kind = 'operator' AND o.oprname = a.name::name AND o.oid >= 16384
  JOIN pg_catalog.pg_operator s ON s.oid IN (o.oid, o.oprcom, o.oprnegate)
  JOIN pg_catalog.pg_proc f ON f.oid IN (s.oprcode, s.oprrest, s.oprjoin)
UNION ALL
SELECT mention, pg_catalog.concat('view ', oid::regclass), NULL, 'expression', pg_catalog.pg_get_viewdef(oid) FROM relation WHERE relkind = 'v' OR ($2 AND relkind = 'm')
UNION ALL
SELECT r.mention, pg_catalog.concat('policy ', pg_catalog.quote_ident(p.polname), ' on ', r.oid::regclass), NULL, 'expression', pg_catalog.pg_get_expr(e.tree, p.polrelid)
FROM relation r JOIN pg_catalog.pg_policy p ON p.polrelid = r.oid AND ($2 OR p.polcmd IN ('r', '*'))
  CROSS JOIN LATERAL (SELECT p.polqual AS tree UNION ALL SELECT p.polwithcheck WHERE $2) e WHERE e.tree IS NOT NULL
UNION ALL
SELECT t.mention, t.object, NULL, f.fact, f.value FROM tree t CROSS JOIN LATERAL (
  SELECT 'expression' AS fact, pg_catalog.pg_get_expr(d.adbin, d.adrelid) AS value FROM pg_catalog.pg_attrdef d WHERE d.adrelid = t.oid
  UNION ALL SELECT 'expression', pg_catalog.pg_get_ruledef(w.oid) FROM pg_catalog.pg_rewrite w WHERE w.ev_class = t.oid AND w.ev_type <> '1'
  UNION ALL SELECT 'function', f.proname FROM pg_catalog.pg_trigger g JOIN pg_catalog.pg_proc f ON f.oid = g.tgfoid
    WHERE g.tgrelid = t.oid AND NOT g.tgisinternal AND g.tgenabled <> 'D') f WHERE $2
UNION ALL
-- Their constant parts are computed when a read of the table is planned.
SELECT p.mention, p.object, NULL, u.fact, u.value FROM (
  SELECT t.*, 'pg_catalog.pg_class'::regclass AS classid, i.indexrelid AS objid FROM tree t JOIN pg_catalog.pg_index i ON i.indrelid = t.oid
  UNION ALL SELECT t.*, 'pg_catalog.pg_constraint'::regclass, c.oid FROM tree t JOIN pg_catalog.pg_constraint c ON c.conrelid = t.oid AND c.contype = 'c'
  UNION ALL SELECT t.*, 'pg_catalog.pg_statistic_ext'::regclass, s.oid FROM tree t JOIN pg_catalog.pg_statistic_ext s ON s.stxrelid = t.oid
  UNION ALL SELECT t.*, 'pg_catalog.pg_class'::regclass, t.oid FROM tree t) p
  JOIN pg_catalog.pg_depend d ON d.classid = p.classid AND d.objid = p.objid CROSS JOIN LATERAL (
    SELECT 'function' AS fact, f.proname AS value FROM pg_catalog.pg_proc f WHERE d.refclassid = 'pg_catalog.pg_proc'::regclass AND f.oid = d.refobjid
    UNION ALL SELECT 'operator', o.oprname FROM pg_catalog.pg_operator o WHERE d.refclassid = 'pg_catalog.pg_operator'::regclass AND o.oid = d.refobjid) u
UNION ALL
SELECT a.mention, pg_catalog.concat(CASE WHEN a.kind = 'name' AND t.typtype = 'c' THEN 'table ' ELSE 'type ' END, t.oid::regtype), NULL, u.fact, u.value
FROM asked a JOIN pg_catalog.pg_type t ON a.kind IN ('type', 'name') AND t.typname = a.name::name AND t.oid >= 16384 CROSS JOIN LATERAL (
  SELECT 'expression' AS fact, pg_catalog.pg_get_constraintdef(c.oid) AS value FROM pg_catalog.pg_constraint c WHERE c.contypid = t.oid
  UNION ALL SELECT 'function', f.proname FROM pg_catalog.pg_cast c JOIN pg_catalog.pg_proc f ON f.oid = c.castfunc WHERE t.oid IN (c.castsource, c.casttarget)
  UNION ALL SELECT 'function', f.proname FROM pg_catalog.pg_amproc s JOIN pg_catalog.pg_proc f ON f.oid = s.amproc WHERE t.oid IN (s.amproclefttype, s.amprocrighttype)
  UNION ALL SELECT 'function', f.proname FROM pg_catalog.pg_range g JOIN pg_catalog.pg_proc f ON f.oid IN (g.rngcanonical, g.rngsubdiff) WHERE g.rngtypid = t.oid
  UNION ALL SELECT 'type', u.typname FROM pg_catalog.pg_type u WHERE u.oid >= 16384 AND (u.oid IN (t.typelem, t.typbasetype)
    OR u.oid IN (SELECT c.atttypid FROM pg_catalog.pg_attribute c WHERE c.attrelid = t.typrelid AND t.typrelid <> 0)
    OR u.oid IN (SELECT g.rngsubtype FROM pg_catalog.pg_range g WHERE t.oid = g.rngtypid)
    -- The range of a multirange, which depends on it.
    OR (t.typtype = 'm' AND u.oid IN (SELECT d.refobjid FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_type'::regclass AND d.objid = t.oid AND d.refclassid = d.classid)))) u
UNION ALL
-- A name that the gate may have cut or folded in another way, since it reads UTF-8.
SELECT a.mention, pg_catalog.concat('name ', a.name), NULL, 'reason', 'may mean another name in this encoding' FROM asked a
WHERE pg_catalog.getdatabaseencoding() <> 'UTF8' AND a.kind <> 'block' AND a.name ~ '[^ -~]'
  AND (pg_catalog.octet_length(pg_catalog.convert_to(a.name, 'UTF8')) > 60 OR a.name <> pg_catalog.lower(a.name))
UNION ALL
SELECT a.mention, 'cast or operator class of a type of PostgreSQL', NULL, 'function', f.proname FROM asked a JOIN pg_catalog.pg_proc f ON a.kind = 'always' AND f.oid IN (
  SELECT c.castfunc FROM pg_catalog.pg_cast c WHERE c.oid >= 16384 AND c.castsource < 16384 AND c.casttarget < 16384
  UNION ALL SELECT s.amproc FROM pg_catalog.pg_amproc s WHERE s.oid >= 16384 AND s.amproclefttype < 16384 AND s.amprocrighttype < 16384
  UNION ALL SELECT e.evtfoid FROM pg_catalog.pg_event_trigger e WHERE $2 AND e.evtenabled <> 'D')
UNION ALL
SELECT mention, 'block', NULL, 'statements', name FROM asked WHERE kind = 'block'
