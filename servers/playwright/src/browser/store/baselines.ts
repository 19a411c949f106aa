import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ToolError } from "@refmcp/boundary/answer";
import { BASELINE_NAME } from "../language/quality.ts";
import { diskProblem, replaceFile } from "./disk.ts";

/** The baseline images for later runs, in a folder that belongs in the project's repository. */
export class BaselineStore {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** The path of a baseline; each device has its own. */
  path(name: string, device: string): string {
    if (!BASELINE_NAME.test(name) || name.includes(".."))
      throw new TypeError(`invalid baseline name: ${name}`);
    return join(this.folder, `${name}${device === "desktop" ? "" : `@${device}`}.png`);
  }

  async read(name: string, device: string): Promise<Buffer | undefined> {
    return readFile(this.path(name, device)).catch(() => undefined);
  }

  /**
   * Writes a baseline atomically; returns its path.
   *
   * @throws ToolError `unavailable` if the folder cannot be written.
   */
  async write(name: string, device: string, picture: Uint8Array): Promise<string> {
    const path = this.path(name, device);
    try {
      await mkdir(this.folder, { recursive: true });
      await replaceFile(path, picture);
    } catch (error) {
      const reason = diskProblem(error);
      if (reason === undefined) throw error;
      throw new ToolError("unavailable", `${path} cannot be written: ${reason}.`, {
        hint: "Choose another folder for baselines with --baseline-dir.",
        cause: error,
      });
    }
    return path;
  }

  /** File names of the baselines, sorted. */
  async list(): Promise<string[]> {
    const names = await readdir(this.folder).catch(() => []);
    return names.filter((name) => name.endsWith(".png")).sort();
  }
}
