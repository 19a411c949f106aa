// A verdict as text, JSON or SARIF.
import { createHash } from "node:crypto";
import type { Finding } from "./finding.ts";
import { countOf, type Verdict } from "./judge.ts";
import { RULES, type RuleId, ruleIds, SEVERITIES } from "./rules.ts";

export const FORMATS = ["text", "json", "sarif"] as const;
export type Format = (typeof FORMATS)[number];

/** What a text report shows of each rule; JSON and SARIF have everything. */
const MAX_SHOWN = 4;
const MAX_LINES = 10;
const MAX_NAMES = 12;
const MAX_TEXT = 240;

/** @param artifact the file that SARIF findings point to. */
export function report(verdict: Verdict, format: Format, artifact: string): string {
  if (format === "text") return textReport(verdict);
  const value = format === "json" ? jsonReport(verdict) : sarifReport(verdict, artifact);
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

function counted(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/** `2 errors, 1 warning, 0 notes`. */
export function summaryOf({ findings }: Verdict): string {
  return SEVERITIES.map((severity) => counted(countOf(findings, severity), severity)).join(", ");
}

function textReport(verdict: Verdict): string {
  const { server, eras, figures, findings, notes } = verdict;
  const rules = [...new Set(findings.map(({ rule }) => rule))];
  const blocked =
    figures.blockedMs === 0 ? "" : `other requests waited ${Math.round(figures.blockedMs)} ms, `;
  const peak = figures.peakMb === 0 ? "" : `${Math.round(figures.peakMb)} MB of memory, `;
  const lines = [
    `${server.name} ${server.version}, in ${eras.join(" and ")}`,
    `${counted(figures.tools, "tool")}, about ${counted(figures.tokens, "token")}. Started in ${figures.startMs} ms.`,
    `Worst of all calls: ${blocked}${peak}an answer of ${counted(figures.answerBytes, "byte")}.`,
    "",
    ...rules.flatMap((rule) =>
      ruleLines(
        rule,
        findings.filter((one) => one.rule === rule),
      ),
    ),
    ...notes.map((note) => `Note: ${note}`),
    ...(notes.length === 0 ? [] : [""]),
    findings.length === 0 ? "No findings." : `${summaryOf(verdict)}.`,
  ];
  return `${lines.join("\n")}\n`;
}

function ruleLines(id: RuleId, findings: readonly Finding[]): string[] {
  const { severity, title, why, link, next } = RULES[id];
  const isSurface = findings.every(({ sent }) => sent === "" || sent === "tools/list");
  const rest = findings.slice(MAX_SHOWN).map(({ where }) => where);
  return [
    `${severity} ${id}: a good server ${title}`,
    `  Why:  ${why}${link === undefined ? "" : `\n        ${link}`}`,
    `  Next: ${next}`,
    ...(isSurface ? sameLines(findings) : findings.slice(0, MAX_SHOWN).flatMap(caseLines)),
    ...(!isSurface && rest.length > 0 ? [`  - and ${listed(rest)}`] : []),
    "",
  ];
}

function caseLines({ where, sent, came }: Finding): string[] {
  return [`  - ${where}`, `      sent: ${short(sent)}`, `      came: ${short(came)}`];
}

/** Findings about the surface, those with the same text on one line. */
function sameLines(findings: readonly Finding[]): string[] {
  const texts = [...new Set(findings.map(({ came }) => came))];
  const lines = texts.map(
    (text) =>
      `  - ${listed(findings.filter(({ came }) => came === text).map(({ where }) => where))}: ${short(text)}`,
  );
  const more = lines.length - MAX_LINES;
  return more > 0
    ? [...lines.slice(0, MAX_LINES), `  - and ${more} more, which --format json shows`]
    : lines;
}

function listed(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  return more > 0 ? `${names.slice(0, MAX_NAMES).join(", ")} and ${more} more` : names.join(", ");
}

function short(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}

function jsonReport({ findings, ...rest }: Verdict): unknown {
  return { ...rest, findings: findings.map((one) => ({ ...one, ...RULES[one.rule] })) };
}

/** SARIF 2.1.0, as GitHub's code scanning reads it. */
function sarifReport({ server, findings }: Verdict, artifact: string): unknown {
  const ids = ruleIds();
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: "refmcp-judge",
            informationUri: "https://github.com/refmcp/refmcp",
            rules: ids.map((id) => ({
              id,
              shortDescription: { text: `A good server ${RULES[id].title}.` },
              fullDescription: { text: RULES[id].why },
              help: { text: RULES[id].next },
              ...(RULES[id].link === undefined ? {} : { helpUri: RULES[id].link }),
              defaultConfiguration: { level: RULES[id].severity },
            })),
          },
        },
        results: findings.map(({ rule, where, sent, came }) => ({
          ruleId: rule,
          ruleIndex: ids.indexOf(rule),
          level: RULES[rule].severity,
          message: {
            text: [
              `${where}: ${came}`,
              ...(sent === "" ? [] : [`Sent: ${sent}`]),
              RULES[rule].next,
            ].join("\n"),
          },
          locations: [
            {
              physicalLocation: { artifactLocation: { uri: artifact }, region: { startLine: 1 } },
              logicalLocations: [{ name: where, fullyQualifiedName: `${server.name}/${where}` }],
            },
          ],
          partialFingerprints: {
            "ruleAndPlace/v1": createHash("sha256").update(`${rule} ${where}`).digest("hex"),
          },
        })),
      },
    ],
  };
}
