import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { type PublicTask, Unavailable } from "./benchmark.ts";

const execute = promisify(execFile);

/** A fresh copy of a task's data, and how our server and the benchmark's verifier find it. */
export interface Place {
  /** The command line of our server. */
  readonly args: readonly string[];
  readonly verifierEnv: Readonly<Record<string, string>>;
  dispose(): Promise<void>;
}

/** A copy of the task's folder, times included: some tasks sort by them. */
export async function copyFiles(checkout: string, task: PublicTask): Promise<Place> {
  const source = join(checkout, "test_environments", task.category);
  if (!existsSync(source)) throw missing(`test_environments/${task.category}`, task);
  const scratch = await realpath(await mkdtemp(join(tmpdir(), "refmcp-public-")));
  const folder = join(scratch, basename(source));
  await cp(source, folder, { recursive: true, preserveTimestamps: true });
  return {
    args: [folder, "--journal-dir", join(scratch, "journal")],
    verifierEnv: { FILESYSTEM_TEST_DIR: folder },
    dispose: () => rm(scratch, { recursive: true, force: true }),
  };
}

/** @param wanted what the checkout lacks, relative to it */
export function missing(wanted: string, task: PublicTask): Unavailable {
  return new Unavailable(
    `no ${wanted}; get it from ${task.dataUrls.join(", made from ") || "the benchmark"}`,
  );
}

/** How a script of the benchmark ended. */
export interface ScriptResult {
  readonly passed: boolean;
  /** The lines that say what is wrong, else the last one. */
  readonly reason: string;
}

/** Runs one of the benchmark's scripts, unchanged, with its own small environment. */
export async function runScript(
  python: string,
  script: string,
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<ScriptResult> {
  const env = {
    PATH: process.env["PATH"] ?? "",
    PYTHONIOENCODING: "utf-8",
    PYTHONDONTWRITEBYTECODE: "1",
    ...options.env,
  };
  try {
    await execute(python, [script], {
      cwd: options.cwd,
      env,
      timeout: 300_000,
      maxBuffer: 2 ** 26,
    });
    return { passed: true, reason: "" };
  } catch (error) {
    const { stdout = "", stderr = "" }: { stdout?: string; stderr?: string } = Object(error);
    const lines = `${stdout}\n${stderr}`.split("\n").filter((line) => line.trim() !== "");
    const complaints = lines.filter((line) => /❌|✗|\bFAIL|\berror\b/i.test(line));
    const told = complaints.length > 0 ? complaints.slice(0, 3) : lines.slice(-1);
    return { passed: false, reason: told.map((line) => line.trim()).join(" / ") || String(error) };
  }
}
