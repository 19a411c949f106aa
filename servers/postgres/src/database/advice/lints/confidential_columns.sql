-- row security is off, API roles can read it, and columns look confidential
-- check: security, level: error, splinter: 0023
SELECT c.oid::regclass || ' (' || columns.names || ')' AS object
FROM (SELECT c.oid, c.relrowsecurity, c.relkind FROM pg_catalog.pg_class c
    CROSS JOIN LATERAL (SELECT pg_catalog.string_agg(r.rolname, ', ' ORDER BY r.rolname) AS names
      FROM pg_catalog.pg_roles r WHERE r.rolname IN ('anon', 'authenticated')
      AND pg_catalog.has_schema_privilege(r.oid, c.relnamespace, 'USAGE')
      AND (pg_catalog.has_table_privilege(r.oid, c.oid, 'SELECT') OR pg_catalog.has_any_column_privilege(r.oid, c.oid, 'SELECT'))) api
    WHERE api.names IS NOT NULL AND c.relnamespace NOT IN (SELECT n.oid
      FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_roles o ON o.oid = n.nspowner
      WHERE n.nspname ~ '^(pg_|information_schema$)' OR o.rolname ~ '^supabase_')
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_class'::regclass
      AND d.objid = c.oid AND d.deptype = 'e')) c
  CROSS JOIN LATERAL (SELECT pg_catalog.string_agg(a.attname, ', ' ORDER BY a.attnum) AS names
    FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0
    AND NOT a.attisdropped AND pg_catalog.replace(pg_catalog.lower(a.attname), '-', '_') ~ '^(.*_)?(pass(word|wd|phrase|code)|pwd|secret|token|jwt|otp|pin|salt|credential|(api|private|secret|access|auth|session|ssh|pgp|gpg|license|activation)_?key|(recovery|backup|verification|auth|2fa)_codes?|session_id|two_factor|mac_?addr(ess)?|imei|device_uuid|certificate|ssn|social_security(_number)?|passport(_number|_id)?|national_id|tax_id|drivers?_license|license_number|patient_id|(health|medical)_(record|insurance)|insurance_number|credit_card|card_number|cvv|cvc|cvn|iban|bic|swift_code|bank_account|account_number|routing_number)(_(hash|digest|encrypted|number|value))?$') columns
WHERE c.relkind IN ('r', 'p')
  AND NOT c.relrowsecurity
  AND columns.names IS NOT NULL;
