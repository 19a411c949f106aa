import type { ForeignSql } from "@refmcp/sql";

const calls = (names: string) => new RegExp(`\\b(?:${names})\\s*\\(`, "i");

/** What MySQL, SQLite, SQL Server and Oracle write differently. */
export const FOREIGN: ForeignSql = [
  [/`/, 'Write names without backticks, or in double quotes: "name".'],
  [
    /(?<![\w"\])])\[[A-Za-z_][^\]]*\]|(?<=\.)\[/,
    'Write names without brackets, or in double quotes: "name".',
  ],
  [/\bLIMIT\s+\d+\s*,/i, "Write LIMIT count OFFSET start."],
  [/(?<=\bSELECT\s+(?:DISTINCT\s+)?)TOP\b/i, "Write LIMIT n at the end instead of TOP n."],
  [
    /^\s*SHOW\s+(?:FULL\s+)?(?:TABLES|DATABASES|SCHEMAS|COLUMNS|INDEX|CREATE)\b/i,
    "Call pg_describe_tables for tables with their columns.",
  ],
  [
    /^\s*(?:DESC|DESCRIBE|PRAGMA|USE)\b|^\s*\\d/i,
    "Call pg_describe_tables; database chooses another database.",
  ],
  [/^\s*EXPLAIN\s+QUERY\b/i, "Call pg_explain for the plan."],
  [calls("ifnull|isnull|nvl"), "Write coalesce(a, b)."],
  [calls("iif|if|decode"), "Write CASE WHEN condition THEN a ELSE b END."],
  [
    calls("date_?diff|timestampdiff|julianday"),
    "Subtract dates: a - b is in days; extract(epoch FROM a - b) is in seconds between timestamps.",
  ],
  [calls("date_?add|date_?sub|timestampadd"), "Add an interval: a + interval '1 day'."],
  [
    calls("strftime|date_format"),
    "Write to_char(a, 'YYYY-MM'), date_trunc('month', a) or extract(year FROM a).",
  ],
  [
    calls("year|month|day|hour|weekday|dayofweek|quarter"),
    "Write extract(year FROM a); date_trunc('month', a) truncates.",
  ],
  [calls("str_to_date"), "Write to_date(text, 'YYYY-MM-DD')."],
  [
    calls("getdate|curdate|sysdate|datetime"),
    "Write now(), current_date, or a cast: a::timestamp.",
  ],
  [calls("unix_timestamp|unixepoch"), "Write extract(epoch FROM a)."],
  [calls("group_concat|listagg"), "Write string_agg(a::text, ', ' ORDER BY a)."],
  [calls("instr|charindex|locate"), "Write position(part IN text)."],
  [calls("len"), "Write length(a)."],
  [calls("rand"), "Write random()."],
  [calls("json_extract"), "Write a ->> 'key', or a #>> '{key,0}' for a path."],
  [calls("convert"), "Write cast(a AS integer) or a::integer."],
  [/!=~|\bNOT\s+(?:REGEXP|RLIKE)\b/i, "Write a !~ 'pattern', or a !~* 'pattern' to ignore case."],
  [/\b(?:REGEXP|RLIKE|GLOB)\b/i, "Write a ~ 'pattern', or a ~* 'pattern' to ignore case."],
  [/==/, "Write a single =."],
  [/\binterval\s+\d/i, "Write the interval in quotes: interval '1 day'."],
];
