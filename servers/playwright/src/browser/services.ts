import { basename, join } from "node:path";
import type { PathGuard } from "@refmcp/boundary";
import { sizeOf, ToolError } from "@refmcp/boundary/answer";
import envPaths from "env-paths";
import { type DriverHost, Drivers } from "./driver/drivers.ts";
import type { DriverOptions } from "./driver/protocol.ts";
import type { Upload } from "./page/downloads.ts";
import { Sessions } from "./run/sessions.ts";
import { Specs } from "./specs/specs.ts";
import { runsPlace } from "./store/disk.ts";
import { mimeOf, RETENTION, RunStore } from "./store/runs.ts";

interface ServicesOptions
  extends Omit<DriverOptions, "runsPlace">,
    Pick<DriverHost, "log" | "changed"> {
  readonly env: NodeJS.ProcessEnv;
  readonly outputDir: string | undefined;
  readonly project: string | undefined;
  readonly paths: PathGuard;
}

const MAX_UPLOAD = 50_000_000;

/** The context of all tools: the browsers' drivers, the user's specs, the accessible files. */
export class Services {
  readonly drivers: Drivers;
  readonly runs: RunStore;
  readonly specs: Specs;
  readonly sessions: Sessions;
  readonly changed: () => void;
  readonly #paths: PathGuard;

  constructor(options: ServicesOptions) {
    const { env, outputDir, project, paths, log, changed, ...rest } = options;
    const platform = envPaths("refmcp", { suffix: "" });
    const usual = join(platform.cache, "playwright", "runs");
    const runs = outputDir === undefined ? runsPlace(usual) : { folder: outputDir };
    this.#paths = paths;
    this.changed = changed;
    this.runs = new RunStore(runs, RETENTION, rest.links);
    this.specs = new Specs(project, this.runs, env);
    this.drivers = new Drivers(
      { ...rest, runsPlace: runs },
      { env, readUpload: (path) => this.#upload(path), log, changed },
    );
    this.sessions = new Sessions({ drivers: this.drivers, runs: this.runs, changed });
  }

  /** A file below an allowed directory, for an upload. */
  async #upload(path: string): Promise<Upload> {
    const { handle, stat } = await this.#paths.openFile(path);
    try {
      if (stat.size > MAX_UPLOAD)
        throw new ToolError(
          "too_large",
          `${path} is ${sizeOf(stat.size)}; the limit for uploads is ${sizeOf(MAX_UPLOAD)}.`,
        );
      return { name: basename(path), mimeType: mimeOf(path), buffer: await handle.readFile() };
    } finally {
      await handle.close();
    }
  }
}
