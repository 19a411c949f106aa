import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BASELINE_NAME } from "../language/quality.ts";

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

  /** Writes a baseline atomically; returns its path. */
  async write(name: string, device: string, picture: Uint8Array): Promise<string> {
    await mkdir(this.folder, { recursive: true });
    const path = this.path(name, device);
    const fresh = `${path}.${process.pid}.tmp`;
    await writeFile(fresh, picture);
    await rename(fresh, path);
    return path;
  }

  /** File names of the baselines, sorted. */
  async list(): Promise<string[]> {
    const names = await readdir(this.folder).catch(() => []);
    return names.filter((name) => name.endsWith(".png")).sort();
  }
}
