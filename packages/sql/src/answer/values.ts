/** What is known about the values of a column, each as an SQL literal. */
export interface ColumnValues {
  /** All values that an enum or a CHECK allows. */
  readonly allowed?: readonly string[] | undefined;
  /** How many are allowed, if the list has only the first ones. */
  readonly allowedCount?: number | undefined;
  /** The base type and the rules of a domain: `integer CHECK (VALUE > 0)`. */
  readonly domain?: string | undefined;
  /** CHECK constraints of only this column. */
  readonly checks?: readonly string[] | undefined;
  /** Values found in its rows: no rule, another one may be there too. */
  readonly seen?: readonly string[] | undefined;
}

/** Maximum values that are listed. */
export const MAX_VALUES = 20;
/** Maximum characters of a value in a list; a column with longer ones has free text. */
export const MAX_VALUE_CHARS = 40;
const MAX_LIST_CHARS = 600;
const MAX_RULE_CHARS = 150;

/** `'a', 'b', … 3 more`. @param count of all, if the list has only the first ones */
export function valueList(values: readonly string[], count = values.length): string {
  const list: string[] = [];
  let chars = 0;
  for (const value of values.slice(0, MAX_VALUES)) {
    chars += value.length + 2;
    if (list.length > 0 && chars > MAX_LIST_CHARS) break;
    list.push(value.length > MAX_LIST_CHARS ? `${value.slice(0, MAX_LIST_CHARS)}…` : value);
  }
  return [...list, ...(count > list.length ? [`… ${count - list.length} more`] : [])].join(", ");
}

const LITERAL = "(?:'(?:[^']|'')*'|-?\\d+(?:\\.\\d+)?)";
/** One cast or none, with any number of words: `::character varying(3)[]`. */
const CAST = "(?:::[\\w ]+(?:\\(\\d+\\))?(?:\\[\\])?)?";
const LIST = `\\(?${LITERAL}\\)?${CAST}(?:\\s*,\\s*\\(?${LITERAL}\\)?${CAST})*`;
/** `status IN ('a', 'b')`, and as PostgreSQL writes it, `status::text = ANY (ARRAY['a'::text, 'b'::text])`. */
const ONE_OF = new RegExp(
  `^\\s*(?:"(?:[^"]|"")+"|\`[^\`]+\`|\\[[^\\]]+\\]|[\\w$\\u0080-\\uffff]+)${CAST} ?(?:IN ?\\(\\s*|= ANY ?\\(\\(?ARRAY\\[)(${LIST})\\s*(?:\\]${CAST}\\)?${CAST})?\\)\\s*$`,
  "i",
);

/** The values of a condition that lists all that a column allows; undefined for other conditions. */
export function listedIn(condition: string): string[] | undefined {
  const list = ONE_OF.exec(condition)?.[1];
  return list === undefined
    ? undefined
    : (list.match(new RegExp(`${LITERAL}(?=\\)?${CAST}\\s*(?:,|$))`, "g")) ?? undefined);
}

/** A rule of PostgreSQL without the casts of its literals. */
const short = (rule: string) => {
  const plain = rule.replace(/('(?:[^']|'')*'|\d\)?)::[a-z]+(?: [a-z]+)*(?:\[\])?/g, "$1");
  return plain.length > MAX_RULE_CHARS ? `${plain.slice(0, MAX_RULE_CHARS)}…` : plain;
};

/** What `describe_table` shows about a column's values, without empty members. */
export function describedValues({
  allowed,
  allowedCount,
  domain,
  checks = [],
  seen,
}: ColumnValues): {
  allowed?: string;
  domain?: string;
  check?: string;
  seen?: string;
} {
  const conditions = checks.map((check) => check.replace(/^CHECK \(([\s\S]*)\)$/i, "$1"));
  const lists = conditions.map(listedIn);
  const list = allowed ?? lists.find((candidate) => candidate !== undefined);
  const others = conditions.filter((_, at) => lists[at] === undefined);
  return {
    ...(list === undefined ? {} : { allowed: valueList(list, allowedCount) }),
    ...(domain === undefined ? {} : { domain: short(domain) }),
    ...(others.length === 0 ? {} : { check: short(others.join(" AND ")) }),
    ...(seen === undefined || list !== undefined ? {} : { seen: valueList(seen) }),
  };
}

/** The same for one line: `('a', 'b')` is all that is allowed and follows the type; `seen 'a', 'b'` is what rows have. */
export function valuesText(values: ColumnValues): { readonly type: string; readonly rest: string } {
  const { allowed, domain, check, seen } = describedValues(values);
  const joined = (...parts: readonly (string | false)[]) =>
    parts.filter(Boolean).join(" ").replace(/\s+/g, " ");
  return {
    type: joined(allowed !== undefined && `(${allowed})`, domain !== undefined && `= ${domain}`),
    rest: joined(check !== undefined && `check (${check})`, seen !== undefined && `seen ${seen}`),
  };
}

/** Names of columns that usually hold secrets or facts about a person, as a part of a regular expression. */
const CONFIDENTIAL = [
  "pass(word|wd|phrase|code)|pwd|secret|token|jwt|otp|pin|salt|credential|(api|private|secret|access|auth|session|ssh|pgp|gpg|license|activation)_?key",
  "(recovery|backup|verification|auth|2fa)_codes?|session_id|two_factor|mac_?addr(ess)?|imei|device_uuid|certificate",
  "ssn|social_security(_number)?|passport(_number|_id)?|national_id|tax_id|drivers?_license|license_number|patient_id|(health|medical)_(record|insurance)|insurance_number",
  "credit_card|card_number|cvv|cvc|cvn|iban|bic|swift_code|bank_account|account_number|routing_number",
].join("|");
/** A name in lower case, with `_` for `-`. */
export const CONFIDENTIAL_NAME = `^(.*_)?(${CONFIDENTIAL})(_(hash|digest|encrypted|number|value))?$`;

/** Whether a column's name suggests that its values should not be shown unasked. */
export const looksConfidential = (column: string) =>
  new RegExp(CONFIDENTIAL_NAME).test(
    column
      .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
      .toLowerCase()
      .replaceAll("-", "_"),
  );
