import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ensureDirectory } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import { isBaselineName } from "../language/values.ts";
import { diskProblem, replaceFile, slugOf } from "./disk.ts";
import type { RunStore } from "./runs.ts";

/** The baseline images for later runs, in a folder that belongs in the project's repository. */
export class BaselineStore {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** The path of a baseline; each device has its own. */
  path(name: string, device: string): string {
    if (!isBaselineName(name)) throw new TypeError(`invalid baseline name: ${name}`);
    return join(this.folder, `${name}${device === "desktop" ? "" : `@${device}`}.png`);
  }

  async read(name: string, device: string): Promise<Buffer | undefined> {
    return readFile(this.path(name, device)).catch(() => undefined);
  }

  /**
   * Writes a baseline atomically.
   *
   * @throws ToolError `unavailable` if the folder cannot be written.
   */
  async write(name: string, device: string, picture: Uint8Array): Promise<void> {
    const path = this.path(name, device);
    try {
      ensureDirectory(this.folder);
      await replaceFile(path, picture);
    } catch (error) {
      const reason = diskProblem(error);
      if (reason === undefined) throw error;
      throw new ToolError("unavailable", `${path} cannot be written: ${reason}.`, {
        hint: "Choose another folder for baselines with --baseline-dir.",
        cause: error,
      });
    }
  }

  async list(): Promise<string[]> {
    const names = await readdir(this.folder).catch(() => []);
    return names.filter((name) => name.endsWith(".png")).sort();
  }
}

/** The beginning of the file names of a comparison with a baseline on a device (as a slug). */
export const baselineStem = (baseline: string, device: string): string =>
  `${slugOf(baseline, "baseline")}${device === "desktop" ? "" : `-${device}`}`;

/**
 * Accepts a run's screenshot as the baseline for later runs.
 *
 * @param confirm asks the user; nothing is changed before.
 * @throws ToolError `not_found` if the run did not compare this baseline.
 */
export async function approve(
  { runs, baselines }: { readonly runs: RunStore; readonly baselines: BaselineStore },
  { runId, baseline, ...request }: { runId: string; baseline: string; device: string },
  confirm: (question: string) => Promise<void>,
): Promise<{ path: string; replaced: boolean; from: string }> {
  if (!isBaselineName(baseline))
    throw new ToolError(
      "invalid",
      `baseline ${JSON.stringify(baseline.slice(0, 80))} is not a valid baseline name.`,
      {
        hint: "Pass the name from the assertion: screenshot matches baseline 'home'.",
      },
    );
  const device = slugOf(request.device, "device");
  const artifact = await runs.artifact(runId, `${baselineStem(baseline, device)}.actual.png`);
  const picture = await runs.read(artifact, Number.MAX_SAFE_INTEGER);
  const before = await baselines.read(baseline, device);
  const path = baselines.path(baseline, device);
  if (before?.equals(picture) === true) return { path, replaced: false, from: artifact.path };
  await confirm(
    before === undefined
      ? `Accept ${artifact.path} as the new baseline '${baseline}' in ${path}?`
      : `Replace the baseline '${baseline}' in ${path} (${before.length} bytes) with ${artifact.path} (${picture.length} bytes)? The old image is lost.`,
  );
  await baselines.write(baseline, device, picture);
  return { path, replaced: before !== undefined, from: artifact.path };
}
