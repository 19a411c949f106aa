import type { ForeignSql } from "@refmcp/sql";

const calls = (names: string) => new RegExp(`\\b(?:${names})\\s*\\(`, "i");

/** What PostgreSQL, MySQL and SQL Server write differently. */
export const FOREIGN: ForeignSql = [
  [/\bILIKE\b/i, "Write LIKE, which ignores the case of ASCII letters."],
  [/::/, "Write cast(a AS TEXT) instead of a::text."],
  [/(?<=\bSELECT\s+(?:DISTINCT\s+)?)TOP\b/i, "Write LIMIT n at the end instead of TOP n."],
  [/\bFETCH\s+(?:FIRST|NEXT)\b/i, "Write LIMIT n OFFSET m."],
  [
    /\bDISTINCT\s+ON\b/i,
    "Write a window: row_number() OVER (PARTITION BY a ORDER BY b), and keep number 1.",
  ],
  [
    /\bSIMILAR\s+TO\b|\b(?:REGEXP|RLIKE)\b|!?~\*?\s*'/i,
    "Write LIKE or GLOB; there are no regular expressions.",
  ],
  [
    calls("extract|date_part|year|month|day|hour"),
    "Write strftime('%Y', a), with %m, %d or %H for the others.",
  ],
  [calls("date_trunc"), "Write date(a, 'start of month'), or strftime('%Y-%m', a)."],
  [calls("to_char|date_format"), "Write strftime('%Y-%m-%d', a)."],
  [calls("date_?diff|timestampdiff|age"), "Write julianday(a) - julianday(b), which is in days."],
  [calls("date_?add|date_?sub"), "Write date(a, '+1 day')."],
  [/\binterval\s+['\d]/i, "Write date(a, '+1 day') or datetime(a, '-2 hours')."],
  [calls("now|getdate|curdate|sysdate"), "Write datetime('now'), or date('now')."],
  [
    calls("to_date|to_timestamp|str_to_date"),
    "Write date(a) or datetime(a); texts are YYYY-MM-DD HH:MM:SS.",
  ],
  [calls("string_agg|listagg|array_agg"), "Write group_concat(a, ', ')."],
  [calls("nvl|isnull"), "Write coalesce(a, b)."],
  [calls("greatest|least"), "Write max(a, b) or min(a, b) with several arguments."],
  [calls("len|char_length"), "Write length(a)."],
  [calls("left|right|substring_index"), "Write substr(a, 1, n), or substr(a, -n) from the end."],
  [calls("position|strpos|charindex|locate"), "Write instr(text, part)."],
  [calls("rand"), "Write random()."],
  [
    calls("generate_series"),
    "Write WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 10).",
  ],
  [calls("concat|concat_ws"), "Write a || b."],
  [calls("convert"), "Write cast(a AS INTEGER)."],
  [calls("any|all"), "Write a IN (…)."],
];
