import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CannotJudge, type JudgeOptions, judge, type Verdict } from "./judge.ts";
import { familyOf, RULES, type RuleId, ruleIds } from "./rules.ts";

const PLANTED = fileURLToPath(new URL("../../test/planted/server.mjs", import.meta.url));
/** Nothing is decided by them: the planted server answers at once. */
const PATIENT = {
  requestMs: 120_000,
  blockedMs: 60_000,
  memoryMb: 2_000,
  hostileMs: 600_000,
  exitMs: 60_000,
  firstMs: 60_000,
};
/** A defect that is a missing answer needs a limit that is reached. */
const IMPATIENT = { ...PATIENT, requestMs: 1_500 };

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "refmcp-judge-"));
  await writeFile(join(folder, "note"), "");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

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
function howOf(rule: RuleId): How {
  const family = familyOf(rule);
  const needsCalls = family === "answer" || rule === "hint-changes";
  return {
    limits: PATIENT,
    ...(needsCalls && { calls: CALLS, watch: folder }),
    ...(family === "http" && { isHttp: true }),
    ...HOW[rule],
  };
}

async function judgePlanted(defect: string, { isHttp = false, ...options }: How): Promise<Verdict> {
  const args = [PLANTED, defect, join(folder, "note")];
  if (!isHttp)
    return await judge({
      ...options,
      target: { command: [process.execPath, ...args], env: {}, cwd: folder },
    });
  const server = spawn(process.execPath, [...args, "--http"], { stdio: ["ignore", "pipe", "inherit"] });
  const [url] = await once(createInterface({ input: server.stdout }), "line");
  try {
    return await judge({ ...options, target: { url: String(url), headers: {} } });
  } finally {
    server.kill();
    await once(server, "close");
  }
}

describe.each(["stdio", "http"])("a good server over %s", (via) => {
  it("has no finding, with its author's calls and a watched directory", async () => {
    const how = { limits: PATIENT, calls: CALLS, watch: folder, readOnly: true, isHttp: via === "http" };
    const verdict = await judgePlanted("none", how);
    expect(verdict.findings).toEqual([]);
    expect(verdict.notes).toEqual([]);
    expect(verdict.eras).toEqual(["2025-11-25", "2026-07-28"]);
    expect(verdict.server).toEqual({ name: "planted", version: "1.0.0" });
    expect(verdict.figures).toMatchObject({ tools: 2 });
  });
});

describe.concurrent("every rule finds the defect that is planted for it", () => {
  it.each(ruleIds())("%s", async (rule) => {
    const { platform, ...how } = howOf(rule);
    if (platform !== undefined && platform !== process.platform) return;
    const { findings } = await judgePlanted(rule, { only: [familyOf(rule)], bytes: 100_000, ...how });
    expect(findings.map((one) => one.rule)).toContain(rule);
    for (const { where, came } of findings) expect(where.length * came.length, rule).toBeGreaterThan(0);
  });
});

it("each rule says why and what to do, in a sentence", () => {
  for (const id of ruleIds()) {
    const { title, why, next } = RULES[id];
    expect(title, id).not.toMatch(/\.$/);
    expect(why, id).toMatch(/\.$/);
    expect(next, id).toMatch(/\.$/);
  }
});

it("a program that is not a server cannot be judged, and its stderr says why", async () => {
  const command = [process.execPath, "--eval", "console.error('No database.'); process.exit(1)"];
  const judging = judge({ target: { command, env: {}, cwd: folder }, limits: PATIENT });
  await expect(judging).rejects.toThrow(CannotJudge);
  await expect(judging).rejects.toThrow("No database.");
});

describe("a program that never answers is ended", () => {
  it.each([
    ["is silent", "setInterval(() => {}, 1_000)"],
    ["floods stdout with lines", 'setInterval(() => process.stdout.write("x\\n".repeat(10_000)))'],
    ["writes a line without an end", 'setInterval(() => process.stdout.write("x".repeat(1_000_000)))'],
    ["returns what it reads", "process.stdin.pipe(process.stdout)"],
  ])("%s", async (_, program) => {
    const file = join(folder, "pid");
    const source = `require("node:fs").writeFileSync(${JSON.stringify(file)}, String(process.pid)); ${program}`;
    const target = { command: [process.execPath, "--eval", source], env: {}, cwd: folder };
    await expect(judge({ target, startMs: 1_500, limits: PATIENT })).rejects.toThrow(
      "The server answers in neither revision.",
    );
    const pid = Number(await readFile(file, "utf8"));
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });
});
