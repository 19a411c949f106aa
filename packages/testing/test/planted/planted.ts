// Judges the planted server.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, type TestContext } from "vitest";
import { type JudgeOptions, judge, type Verdict } from "../../src/judge/judge.ts";
import { familyOf, type RuleId } from "../../src/judge/rules.ts";

export const PLANTED = join(import.meta.dirname, "server.mjs");
/** Nothing is decided by them: the planted server answers at once. */
export const PATIENT = {
  requestMs: 120_000,
  blockedMs: 60_000,
  memoryMb: 2_000,
  hostileMs: 600_000,
  exitMs: 60_000,
  firstMs: 60_000,
};
/** A defect that is a missing answer needs a limit that is reached. */
const IMPATIENT = { ...PATIENT, requestMs: 1_500 };

/** A folder for planted servers, with a file. */
export async function plantedFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "refmcp-judge-"));
  await writeFile(join(folder, "note"), "");
  return folder;
}

const CALLS = { read_note: { id: "n1" }, tag_note: [{ tags: ["home"], id: "n1" }] };

interface How extends Omit<Partial<JudgeOptions>, "target"> {
  readonly isHttp?: boolean;
  readonly platform?: NodeJS.Platform;
}

/** What a defect needs to be seen, beyond the calls that the server must refuse. */
const HOW: Partial<Record<RuleId, How>> = {
  "rpc-id": { limits: IMPATIENT },
  "rpc-answers": { limits: IMPATIENT },
  "rpc-invalid-request": { limits: IMPATIENT },
  "process-start": { limits: { ...PATIENT, firstMs: 500 } },
  "process-stdin": { limits: { ...PATIENT, exitMs: 500 } },
  "process-sigterm": { limits: { ...PATIENT, exitMs: 500 }, platform: "linux" },
  "process-children": { limits: { ...PATIENT, exitMs: 500 }, platform: "linux" },
  "hostile-hang": { limits: IMPATIENT },
  "hostile-blocked": { limits: { ...PATIENT, blockedMs: 200 } },
  "hostile-memory": { limits: { ...PATIENT, memoryMb: 50 }, platform: "linux" },
  "input-unknown": { calls: CALLS },
};

/** Whether what comes before the hyphen needs calls that the server answers, or HTTP. */
function howOf(rule: RuleId, folder: string): How {
  const family = familyOf(rule);
  const needsCalls = family === "answer" || rule === "hint-changes";
  return {
    limits: PATIENT,
    ...(needsCalls && { calls: CALLS, watch: folder }),
    ...(family === "http" && { isHttp: true }),
    ...HOW[rule],
  };
}

export async function judgePlanted(
  folder: string,
  defect: string,
  { isHttp = false, ...options }: How,
): Promise<Verdict> {
  const args = [PLANTED, defect, join(folder, "note")];
  if (!isHttp)
    return await judge({
      ...options,
      target: { command: [process.execPath, ...args], env: {}, cwd: folder },
    });
  const server = spawn(process.execPath, [...args, "--http"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [url] = await once(createInterface({ input: server.stdout }), "line");
  try {
    return await judge({ ...options, target: { url: String(url), headers: {} } });
  } finally {
    server.kill();
    await once(server, "close");
  }
}

/** Expects that the rule finds the defect which is planted for it. */
export async function expectFound(
  folder: string,
  rule: RuleId,
  { skip }: TestContext,
): Promise<void> {
  const { platform = process.platform, ...how } = howOf(rule, folder);
  if (platform !== process.platform) skip(`needs ${platform}`);
  const { findings } = await judgePlanted(folder, rule, {
    only: [familyOf(rule)],
    bytes: 100_000,
    ...how,
  });
  expect(findings.map((one) => one.rule)).toContain(rule);
  for (const { where, came } of findings)
    expect(where.length * came.length, rule).toBeGreaterThan(0);
}

/** Expects that a server without a defect has no finding. */
export async function expectGood(folder: string, isHttp = false): Promise<void> {
  const how = { limits: PATIENT, calls: CALLS, watch: folder, readOnly: true, isHttp };
  const verdict = await judgePlanted(folder, "none", how);
  expect(verdict.findings).toEqual([]);
  expect(verdict.notes).toEqual([]);
  expect(verdict.eras).toEqual(["2025-11-25", "2026-07-28"]);
  expect(verdict.server).toEqual({ name: "planted", version: "1.0.0" });
  expect(verdict.figures).toMatchObject({ tools: 2 });
}

/** Expects that a program which is not a server is ended and reported. */
export async function expectEnded(folder: string, program: string): Promise<void> {
  const file = join(folder, "pid");
  const source = `require("node:fs").writeFileSync(${JSON.stringify(file)}, String(process.pid)); ${program}`;
  const target = { command: [process.execPath, "--eval", source], env: {}, cwd: folder };
  await expect(judge({ target, startMs: 1_500, limits: PATIENT })).rejects.toThrow(
    "The server answers in neither revision.",
  );
  const pid = Number(await readFile(file, "utf8"));
  expect(() => process.kill(pid, 0)).toThrow("ESRCH");
}
