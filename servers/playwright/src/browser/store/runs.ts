import { randomBytes } from "node:crypto";
import { type Dirent, existsSync } from "node:fs";
import { lstat, readdir, readFile, rm, rmdir, utimes } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { nearest, sizeOf, ToolError } from "@refmcp/boundary/answer";
import { problemOf, RunFolder, type RunsPlace } from "./disk.ts";

export interface Artifact {
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  readonly mimeType: string;
  readonly uri: string;
}

/** `file`: the client is on this machine and opens the file; `pw`: it reads our resource. */
export type LinkScheme = "file" | "pw";

export const RETENTION = { runs: 50, milliseconds: 7 * 24 * 3_600_000 };

/** The part of a test's report that is needed to repeat it; bare quoted texts are as they were resolved. */
export interface Done {
  readonly url: string;
  readonly done: {
    steps: readonly string[];
    assertions: readonly string[];
    devices: readonly string[];
  };
}

/** Valid names of artifacts and run ids: no separator and no leading dot, so that none leads out of its folder. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,120}$/;
/** An unfinished run that changed this recently may still belong to another process. */
const RECENT_MS = 2 * 3_600_000;
const REPORT = "report.json";
const SWEEP_MS = 2_000;

const MIME: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  json: "application/json",
  har: "application/json",
  zip: "application/zip",
  txt: "text/plain",
  md: "text/markdown",
  html: "text/html",
  ts: "text/plain",
};

export function mimeOf(name: string): string {
  return MIME[/\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ""] ?? "application/octet-stream";
}

export const isText = (mimeType: string) => /^(?:text\/|application\/json)/.test(mimeType);

/** The folder with the artifacts of runs, one folder per run; deletes old ones. */
export class RunStore {
  readonly folder: string;
  readonly #note: string | undefined;
  readonly #retention: typeof RETENTION;
  readonly #links: LinkScheme;
  readonly #live = new Set<string>();
  #sweeping: Promise<unknown> = Promise.resolve();
  #sweepSoon: NodeJS.Timeout | undefined;

  constructor({ folder, note }: RunsPlace, retention = RETENTION, links: LinkScheme = "file") {
    this.folder = folder;
    this.#note = note;
    this.#retention = retention;
    this.#links = links;
  }

  /** Creates a run's folder, accessible only to this user; where that fails, the run keeps nothing. */
  async begin(redact?: (text: string) => string): Promise<RunFolder> {
    const time = new Date()
      .toISOString()
      .replace(/[-:]|\.\d+Z/g, "")
      .replace("T", "-");
    const id = `${time}-${randomBytes(4).toString("hex")}`;
    const path = join(this.folder, id);
    this.#live.add(id);
    return new RunFolder(path, { problem: problemOf(path), note: this.#note, redact });
  }

  /** The newest run with an artifact of this name; undefined if there is none. */
  async newestWith(name: string): Promise<string | undefined> {
    return (await this.#byChange(name))[0]?.id;
  }

  /** The runs that have an entry of this name, by its last change: names only have a resolution of one second. */
  async #byChange(name: string): Promise<{ readonly id: string; readonly changed: number }[]> {
    const runs = (await this.ids()).map(async (id) => {
      const stat = await lstat(join(this.folder, id, name)).catch(() => undefined);
      return stat === undefined ? [] : [{ id, changed: stat.mtimeMs }];
    });
    return (await Promise.all(runs)).flat().sort((a, b) => b.changed - a.changed);
  }

  /** Prevents another process from deleting a long run. */
  async touch(id: string): Promise<void> {
    const now = new Date();
    await utimes(join(this.folder, id), now, now).catch(() => undefined);
  }

  /** Ends a run: keeps its report, and schedules the deletion of old runs. */
  async finish<Report = unknown>(run: RunFolder, report: Report): Promise<void> {
    await run.write(REPORT, `${JSON.stringify(report, undefined, 2)}\n`);
    this.#live.delete(run.id);
    // Once for several runs. Failed deletions are retried after the next run.
    this.#sweepSoon ??= setTimeout(() => {
      this.#sweepSoon = undefined;
      this.sweep().catch(() => undefined);
    }, SWEEP_MS).unref();
  }

  async drop(id: string): Promise<void> {
    this.#live.delete(id);
    await rm(join(this.folder, id), { recursive: true, force: true });
  }

  /** Deletes the folder of a session that kept no screenshot or download. */
  async dropEmpty(id: string): Promise<void> {
    await rmdir(join(this.folder, id)).catch(() => undefined);
  }

  async ids(): Promise<string[]> {
    const entries = await entriesOf(this.folder);
    return entries
      .filter((entry) => entry.isDirectory() && NAME.test(entry.name))
      .map((entry) => entry.name)
      .sort()
      .reverse();
  }

  /**
   * The artifacts of a run by name.
   *
   * @throws ToolError `not_found` for an unknown or deleted run.
   */
  async artifacts(id: string): Promise<Artifact[]> {
    if (!NAME.test(id) || !existsSync(join(this.folder, id))) {
      const near = nearest(id, await this.ids(), 2);
      throw new ToolError("not_found", `There is no run ${JSON.stringify(id.slice(0, 80))}.`, {
        hint: `${near.length === 0 ? "" : `Did you mean ${near.join(" or ")}? `}Runs are kept for 7 days, 50 at most; run the test again for fresh artifacts.`,
      });
    }
    return this.kept({ id });
  }

  /** What a run has kept so far; nothing if it has no folder. */
  async kept({ id }: Pick<RunFolder, "id">): Promise<Artifact[]> {
    const artifacts: Artifact[] = [];
    for (const entry of await entriesOf(join(this.folder, id))) {
      if (!entry.isFile() || !NAME.test(entry.name)) continue;
      const path = join(this.folder, id, entry.name);
      const { size } = await lstat(path);
      const { name } = entry;
      const uri = this.#links === "file" ? pathToFileURL(path).href : `pw://runs/${id}/${name}`;
      artifacts.push({ name, path, bytes: size, mimeType: mimeOf(name), uri });
    }
    return artifacts.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** @throws ToolError `not_found` for an unknown artifact, with the existing ones. */
  async artifact(id: string, name: string): Promise<Artifact> {
    const artifacts = await this.artifacts(id);
    const artifact = artifacts.find((entry) => entry.name === name);
    if (artifact !== undefined) return artifact;
    const quotedName = JSON.stringify(name.slice(0, 80));
    throw new ToolError("not_found", `The run ${id} has no artifact ${quotedName}.`, {
      hint: `It has ${artifacts.map((entry) => entry.name).join(", ") || "none"}.`,
    });
  }

  /** @throws ToolError `not_found`; `invalid` for a run of another kind. */
  async done(id: string): Promise<Done["done"] & Pick<Done, "url">> {
    const { path } = await this.artifact(id, REPORT);
    const { url, done }: Partial<Done> = JSON.parse(await readFile(path, "utf8"));
    if (url !== undefined && done !== undefined) return { url, ...done };
    throw new ToolError("invalid", `The run ${id} is not a run of one test.`);
  }

  /** @throws ToolError `too_large` with the path, if it is too large to send. */
  async read(artifact: Artifact, max: number): Promise<Buffer> {
    if (artifact.bytes <= max) return readFile(artifact.path);
    const message = `${artifact.name} is ${sizeOf(artifact.bytes)}; the limit is ${sizeOf(max)}.`;
    throw new ToolError("too_large", message, { hint: `The file is ${artifact.path}.` });
  }

  /** Deletes runs that are too old or too many; never one in progress. */
  sweep(now = Date.now()): Promise<string[]> {
    const swept = this.#sweeping.catch(() => undefined).then(() => this.#sweep(now));
    this.#sweeping = swept;
    return swept;
  }

  async #sweep(now: number): Promise<string[]> {
    const deleted: string[] = [];
    let runs = 0;
    for (const { id, changed } of await this.#byChange(".")) {
      const folder = join(this.folder, id);
      if (this.#live.has(id)) continue;
      runs += 1;
      const age = now - changed;
      const finished = existsSync(join(folder, REPORT));
      if (!finished && age < RECENT_MS) continue;
      const { runs: maxRuns, milliseconds } = this.#retention;
      if (age <= milliseconds && runs <= maxRuns) continue;
      await rm(folder, { recursive: true, force: true });
      deleted.push(id);
    }
    return deleted;
  }
}

const entriesOf = (folder: string): Promise<Dirent[]> =>
  readdir(folder, { withFileTypes: true }).catch(() => []);
