// Calls tools: with hostile arguments, which they must refuse, and with the author's arguments.
import { createHash } from "node:crypto";
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { ListedTool } from "../portable.ts";
import {
  answerProblems,
  errorProblems,
  MAX_REFUSAL_BYTES,
  refusalProblems,
  textIn,
} from "./answers.ts";
import { type Findings, shown } from "./finding.ts";
import { type HostileCase, hostileCases } from "./hostile.ts";
import { type Json, objectOf, pause, type Reply } from "./link.ts";
import { exampleOf } from "./schema.ts";
import { cameOf, codeOf, errorOf, resultOf, type Session } from "./session.ts";
import { StdioLink } from "./stdio.ts";

export interface Limits {
  /** How long a request may take. */
  readonly requestMs: number;
  /** How long a request may wait because of another. */
  readonly blockedMs: number;
  /** By how much one call may increase the peak memory. */
  readonly memoryMb: number;
  /** How long all hostile calls may take. */
  readonly hostileMs: number;
  /** How long the server may take to exit. */
  readonly exitMs: number;
  /** How long it may take to answer its first request. */
  readonly firstMs: number;
}

export const LIMITS: Limits = {
  requestMs: 30_000,
  blockedMs: 1_000,
  memoryMb: 200,
  hostileMs: 120_000,
  exitMs: 5_000,
  firstMs: 10_000,
};

/** The worst of all calls. */
export interface Figures {
  blockedMs: number;
  peakMb: number;
  answerBytes: number;
}

const MAX_RESTARTS = 5;

/** Sends each tool the arguments that it must refuse, and measures. */
export async function callHostile(
  open: () => Promise<Session>,
  tools: readonly ListedTool[],
  options: { readonly bytes: number; readonly limits: Limits },
  findings: Findings,
): Promise<Figures> {
  const { limits } = options;
  const figures: Figures = { blockedMs: 0, peakMb: 0, answerBytes: 0 };
  const start = performance.now();
  let session = await open();
  const general = await generalError(session);
  let restarts = 0;
  let untried = 0;
  for (const tool of callable(tools, findings)) {
    for (const one of hostileCases(tool, options.bytes)) {
      if (performance.now() - start > limits.hostileMs || restarts > MAX_RESTARTS) {
        untried += 1;
        continue;
      }
      const end = await callOnce(session, tool, one, { limits, findings, figures, general });
      if (end !== "lost") continue;
      restarts += 1;
      await session.link.close();
      session = await open();
    }
  }
  if (untried > 0)
    findings.note(
      `${untried} hostile calls were not tried, because the time limit or the limit of ${MAX_RESTARTS} restarts was reached. --hostile-seconds changes the time limit.`,
    );
  await session.link.close();
  return figures;
}

/** Without tools that can only be called as tasks. */
function callable(tools: readonly ListedTool[], findings: Findings): ListedTool[] {
  const [asTasks, rest] = [true, false].map((isTask) =>
    tools.filter(({ execution }) => (objectOf(execution)["taskSupport"] === "required") === isTask),
  );
  if (asTasks !== undefined && asTasks.length > 0)
    findings.note(
      `Not called, because they require tasks: ${asTasks.map(({ name }) => name).join(", ")}.`,
    );
  return rest ?? [];
}

async function callOnce(
  session: Session,
  tool: ListedTool,
  one: HostileCase,
  { limits, findings, figures, general }: Course,
): Promise<"kept" | "lost"> {
  const { link } = session;
  const sent = `tools/call ${tool.name}, ${one.name}: ${one.args.slice(0, 80)}${one.args.length > 80 ? "…" : ""}`;
  const before = memoryOf(session);
  const cpuBefore = cpuOf(session);
  let isDone = false;
  const calling = session.callText(tool.name, one.args).finally(() => {
    isDone = true;
  });
  let blocked = 0;
  while (one.isLarge && !isDone && link.isOpen) {
    blocked = Math.max(blocked, (await session.ping()).ms);
    await pause(20);
  }
  const reply = await calling;
  // On a busy machine a request waits for other programs too, so no longer than the server has worked.
  const cpu = cpuOf(session);
  if (cpu !== undefined && cpuBefore !== undefined) blocked = Math.min(blocked, cpu - cpuBefore);
  // A process that ends because of the call may do so after its answer.
  const isTried = one.isLarge && reply.missing === undefined;
  const isAlive = link.isOpen && (!isTried || (await session.ping()).message !== undefined);
  const after = memoryOf(session);
  if (!isAlive && reply.missing !== "timeout" && reply.missing !== "too large") {
    const stderr = link instanceof StdioLink ? link.stderr.slice(-300) : "";
    findings.add("hostile-crash", tool.name, sent, `The server ended. ${stderr}`);
    return "lost";
  }
  figures.blockedMs = Math.max(figures.blockedMs, blocked);
  figures.answerBytes = Math.max(figures.answerBytes, reply.bytes);
  figures.peakMb = Math.max(figures.peakMb, after?.peak ?? 0);
  if (blocked > limits.blockedMs)
    findings.add(
      "hostile-blocked",
      tool.name,
      sent,
      `Another request waited ${Math.round(blocked)} ms.`,
    );
  const rise = (after?.peak ?? 0) - (before?.peak ?? 0);
  // A part of the memory may be garbage of earlier calls.
  const isMuch =
    rise > limits.memoryMb / 4 && (after?.peak ?? 0) - session.restMb > limits.memoryMb;
  if (one.isLarge && isMuch)
    findings.add(
      "hostile-memory",
      tool.name,
      sent,
      `Memory rose to ${Math.round(after?.peak ?? 0)} MB, from ${Math.round(session.restMb)} MB after the start.`,
    );
  if (reply.bytes > MAX_REFUSAL_BYTES)
    findings.add(
      "hostile-answer",
      tool.name,
      sent,
      `An answer of ${reply.bytes} bytes: ${cameOf(reply)}`,
    );
  if (reply.message === undefined) {
    // Over HTTP, a message may be refused by its size, without an answer in JSON.
    if (reply.missing === "not JSON-RPC" && (reply.status ?? 0) >= 400) return "kept";
    findings.add("hostile-hang", tool.name, sent, cameOf(reply));
    return "lost";
  }
  judgeRefusal(tool, one, reply, sent, { limits, findings, figures, general });
  return "kept";
}

/** What all hostile calls share. */
interface Course {
  readonly limits: Limits;
  readonly findings: Findings;
  readonly figures: Figures;
  /** The error of every call, if there is one: then it is not about arguments. */
  readonly general: string;
}

/** The answer to a call of an unknown tool, for example that a browser is not installed. */
async function generalError(session: Session): Promise<string> {
  const reply = await session.request("tools/call", { name: "judge-unknown", arguments: {} });
  return textIn(resultOf(reply) ?? errorOf(reply));
}

function cpuOf({ link }: Session): number | undefined {
  return link instanceof StdioLink ? link.cpuMs() : undefined;
}

function memoryOf({ link }: Session): { now: number; peak: number } | undefined {
  return link instanceof StdioLink ? link.memory() : undefined;
}

function judgeRefusal(
  tool: ListedTool,
  one: HostileCase,
  reply: Reply,
  sent: string,
  { findings, general }: Course,
): void {
  const answer = resultOf(reply) ?? errorOf(reply);
  const isGeneral = textIn(answer) === general && general !== "";
  if (isGeneral)
    findings.note(
      `The server answers every call with this error, so its errors are not judged: ${shown(general)}`,
    );
  for (const { rule, text } of refusalProblems(one, answer, cameOf(reply)))
    if (!isGeneral || rule !== "error-argument") findings.add(rule, tool.name, sent, text);
}

export interface ValidCalls {
  /** The author's arguments by tool: one call, or a list of calls. */
  readonly calls: Readonly<Record<string, Json | readonly Json[]>>;
  /** Whether to call read-only tools with arguments from the examples in their schemas. */
  readonly readOnly: boolean;
  /** A directory that read-only tools must not change. */
  readonly watch?: string | undefined;
}

/** Calls tools as their author allows, and judges the answers. @returns the size of the largest. */
export async function callValid(
  session: Session,
  tools: readonly ListedTool[],
  { calls, readOnly, watch }: ValidCalls,
  findings: Findings,
): Promise<number> {
  let largest = 0;
  for (const tool of callable(tools, findings)) {
    const isReadOnly = objectOf(tool.annotations)["readOnlyHint"] === true;
    const example = readOnly && isReadOnly ? exampleOf(tool.inputSchema) : undefined;
    const own = calls[tool.name];
    const given = own ?? (example === undefined ? [] : objectOf(example));
    for (const args of [given].flat()) {
      const before = isReadOnly ? digestOf(watch) : "";
      const sent = `tools/call ${tool.name} ${JSON.stringify(args)}`;
      const reply = await session.request("tools/call", { name: tool.name, arguments: args });
      largest = Math.max(largest, reply.bytes);
      judgeAnswer(tool, reply, sent, { findings, isExample: own === undefined });
      if (isReadOnly) await callWithUnknown(session, tool, args, findings);
      if (isReadOnly && digestOf(watch) !== before)
        findings.add("hint-changes", tool.name, sent, `Files below ${watch} have changed.`);
    }
  }
  return largest;
}

function judgeAnswer(
  tool: ListedTool,
  reply: Reply,
  sent: string,
  { findings, isExample }: { readonly findings: Findings; readonly isExample: boolean },
): void {
  const result = resultOf(reply);
  // The tool asks the user, which this client cannot do.
  if (result?.["resultType"] === "input_required") return;
  if (result !== undefined && result["isError"] !== true) {
    findings.addAll(answerProblems(tool, result, reply.bytes), tool.name, sent);
    return;
  }
  const message = textIn(result ?? errorOf(reply));
  // Whether examples fit depends on the data.
  if (isExample)
    findings.note(
      `Not judged, because the examples in its schema do not fit: ${shown(sent)}: ${shown(message)}`,
    );
  else findings.add("answer-fails", tool.name, sent, cameOf(reply));
  if (reply.message !== undefined) findings.addAll(errorProblems(message, []), tool.name, sent);
}

async function callWithUnknown(
  session: Session,
  tool: ListedTool,
  args: Json,
  findings: Findings,
): Promise<void> {
  if (objectOf(tool.inputSchema)["additionalProperties"] !== false) return;
  const reply = await session.request("tools/call", {
    name: tool.name,
    arguments: { ...args, judge_unknown: 1 },
  });
  const result = resultOf(reply);
  if (codeOf(reply) === undefined && result?.["isError"] !== true)
    findings.add(
      "input-unknown",
      tool.name,
      `tools/call ${tool.name} with judge_unknown: 1`,
      cameOf(reply),
    );
}

const MAX_WATCHED = 20_000;

/** Names, sizes and times of all files below a directory. */
function digestOf(directory: string | undefined): string {
  const hash = createHash("sha256");
  if (directory === undefined) return "";
  const files = readdirSync(directory, { recursive: true, encoding: "utf8" })
    .sort()
    .slice(0, MAX_WATCHED);
  for (const file of files) {
    const found = lstatSync(join(directory, file), { throwIfNoEntry: false });
    hash.update(`${file}\0${found?.size}\0${found?.mtimeMs}\0${found?.mode}\n`);
  }
  return hash.digest("hex");
}
