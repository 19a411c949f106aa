import { PROTOCOL_RULES } from "./protocol-rules.ts";
import { TOOL_RULES } from "./tool-rules.ts";

export type Severity = "error" | "warning" | "note";
export const SEVERITIES: readonly Severity[] = ["error", "warning", "note"];

/** What a server must, should or had better do. */
export interface Rule {
  /** `error`: a MUST of the specification, or harm. `warning`: a SHOULD, or trouble with hosts. `note`: advice. */
  readonly severity: Severity;
  /** What holds for a good server. */
  readonly title: string;
  /** The sentence of the specification, or the reason. */
  readonly why: string;
  readonly link?: string;
  /** What the author does about it. */
  readonly next: string;
}

const ALL = { ...PROTOCOL_RULES, ...TOOL_RULES };
export type RuleId = keyof typeof ALL;
export const RULES: Readonly<Record<RuleId, Rule>> = ALL;

/** A family is the first word of its rules' ids. */
export const FAMILIES = {
  rpc: "JSON-RPC",
  init: "Handshake of 2025-11-25",
  list: "Lists",
  request: "Requests",
  modern: "Revision 2026-07-28",
  stdout: "Standard output",
  process: "Process",
  http: "Streamable HTTP",
  hostile: "Hostile input",
  input: "Input validation",
  error: "Error messages",
  answer: "Answers of valid calls",
  tool: "Tools as a model sees them",
  hint: "Annotations",
} as const;
export type Family = keyof typeof FAMILIES;

export function isFamily(name: string): name is Family {
  return Object.hasOwn(FAMILIES, name);
}

export function familyOf(rule: RuleId): Family {
  const [name = ""] = rule.split("-");
  if (!isFamily(name)) throw new TypeError(`The rule ${rule} has no family.`);
  return name;
}

export const ruleIds = (): RuleId[] =>
  Object.keys(ALL).filter((id): id is RuleId => Object.hasOwn(RULES, id));

/** The rules for documentation, a table for each family. */
export function rulesTable(): string {
  const cell = (text: string) => text.replaceAll("|", "\\|");
  return Object.entries(FAMILIES)
    .map(([family, title]) => {
      const rows = ruleIds()
        .filter((id) => familyOf(id) === family)
        .map((id) => {
          const { severity, title: rule, why, link } = RULES[id];
          return `| \`${id}\` | ${severity} | ${cell(rule)} | ${cell(why)}${link === undefined ? "" : ` ([specification](${link}))`} |`;
        });
      return [
        `### ${title}`,
        "",
        "| Rule | Severity | A good server | Why |",
        "|---|---|---|---|",
        ...rows,
      ].join("\n");
    })
    .join("\n\n");
}
