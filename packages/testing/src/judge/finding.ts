import type { RuleId } from "./rules.ts";

/** A rule that a server breaks, once. */
export interface Finding {
  readonly rule: RuleId;
  /** The tool, method or message, and the revision if it matters. */
  readonly where: string;
  readonly sent: string;
  readonly came: string;
}

/** What the rule functions return: a finding without the circumstances. */
export interface Problem {
  readonly rule: RuleId;
  readonly text: string;
}

const MAX_PER_RULE = 1_000;
const MAX_SHOWN = 400;

/** Controls, invisible and reordering characters, which could forge lines of a report. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;
const ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Here, because the judge imports no package: it also runs from a clone. */
function oneLine(text: string): string {
  return text.replace(
    UNSAFE,
    (char) => ESCAPES[char] ?? `\\u{${char.codePointAt(0)?.toString(16)}}`,
  );
}

/** Text of a server for a report: one line, without control characters, and short. */
export function shown(value: unknown): string {
  const text = typeof value === "string" ? value : (json(value) ?? "nothing");
  const start = oneLine(text.slice(0, MAX_SHOWN));
  return text.length > MAX_SHOWN ? `${start}… (${text.length} characters)` : start;
}

function json(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return "a value nested too deep to show";
  }
}

/** Collects findings: each rule once for each place, and a bounded number. */
export class Findings {
  readonly all: Finding[] = [];
  readonly notes: string[] = [];
  readonly #seen = new Set<string>();
  readonly #counts = new Map<RuleId, number>();

  add(rule: RuleId, where: string, sent: string, came: unknown): void {
    const key = `${rule} ${where}`;
    const count = this.#counts.get(rule) ?? 0;
    if (this.#seen.has(key) || count >= MAX_PER_RULE) return;
    this.#seen.add(key);
    this.#counts.set(rule, count + 1);
    this.all.push({ rule, where: oneLine(where), sent: shown(sent), came: shown(came) });
  }

  /** Problems of the same rule in one place are one finding. */
  addAll(problems: readonly Problem[], where: string, sent: string): void {
    for (const { rule } of problems) {
      const texts = problems.filter((one) => one.rule === rule).map(({ text }) => text);
      this.add(rule, where, sent, texts.join("; "));
    }
  }

  note(text: string): void {
    if (!this.notes.includes(text)) this.notes.push(text);
  }
}
