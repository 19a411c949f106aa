export default `-- The names behind which a statement may reach code that is not PostgreSQL's own: objects made after initdb.
SELECT 'function' AS kind, proname::text AS name FROM pg_catalog.pg_proc WHERE oid >= 16384
UNION SELECT 'attribute', proname::text FROM pg_catalog.pg_proc
  WHERE oid >= 16384 AND pronargs >= 1 AND pronargs - pronargdefaults <= 1
UNION SELECT 'operator', oprname::text FROM pg_catalog.pg_operator WHERE oid >= 16384
UNION SELECT 'relation', c.relname::text FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_rewrite r ON r.ev_class = c.oid AND r.oid >= 16384 WHERE c.relkind = 'v'
UNION SELECT 'relation', c.relname::text FROM pg_catalog.pg_class c JOIN pg_catalog.pg_policy p ON p.polrelid = c.oid
`;
