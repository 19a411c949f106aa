import { basename, join } from "node:path";
import { sized, ToolError } from "@refmcp/core/answer";
import type { PathGuard } from "@refmcp/core/boundary";
import envPaths from "env-paths";
import { NetworkPolicy, type NetworkRules } from "./network/policy.ts";
import { Secrets } from "./run/secrets.ts";
import { Specs } from "./specs/specs.ts";
import { BaselineStore } from "./store/baselines.ts";
import { type LinkScheme, mimeOf, RETENTION, RunStore } from "./store/runs.ts";
import { Tester, type TesterOptions } from "./tester.ts";

export interface WorkbenchOptions
  extends Pick<TesterOptions, "launch" | "ignoreHttpsErrors" | "concurrency" | "log" | "changed"> {
  readonly rules: NetworkRules;
  readonly outputDir: string | undefined;
  readonly baselineDir: string | undefined;
  readonly project: string | undefined;
  readonly paths: PathGuard;
  /** How answers link to artifacts. */
  readonly links: LinkScheme;
}

const MOST_UPLOAD = 50_000_000;

/** A host lists the tools, and the model thinks before it calls one. */
const WARM_AFTER_MS = 700;

/** What all tools work with: the tester and its browser, the user's specs, the files that may be touched. */
export class Workbench {
  readonly tester: Tester;
  readonly specs: Specs;
  readonly #paths: PathGuard;
  #warming: NodeJS.Timeout | undefined;

  constructor(options: WorkbenchOptions) {
    const { rules, outputDir, baselineDir, project, paths, links, ...rest } = options;
    const platform = envPaths("refmcp", { suffix: "" });
    const runs = new RunStore(outputDir ?? join(platform.cache, "playwright", "runs"), RETENTION, links);
    const secrets = Secrets.from(options.launch.env);
    this.#paths = paths;
    this.tester = new Tester({
      ...rest,
      policy: new NetworkPolicy(rules),
      runs,
      baselines: new BaselineStore(baselineDir ?? join(platform.data, "playwright", "baselines")),
      secrets,
      readUpload: (path) => this.#upload(path),
    });
    this.specs = new Specs(project, runs, secrets);
  }

  /** Starts the browser, unless the server ends at once: a host that only looks at the tools needs none. */
  prewarm(): void {
    this.#warming = setTimeout(() => this.tester.prewarm(), WARM_AFTER_MS).unref();
  }

  close(): Promise<void> {
    clearTimeout(this.#warming);
    return this.tester.close();
  }

  /** A file below an allowed directory, for an upload. */
  async #upload(path: string): Promise<{ name: string; mimeType: string; buffer: Buffer }> {
    const { handle, stat } = await this.#paths.openFile(path);
    try {
      if (stat.size > MOST_UPLOAD)
        throw new ToolError(
          "too_large",
          `${path} has ${sized(stat.size)}; at most ${sized(MOST_UPLOAD)} are uploaded.`,
        );
      return { name: basename(path), mimeType: mimeOf(path), buffer: await handle.readFile() };
    } finally {
      await handle.close();
    }
  }

  /** The file of a trace: an artifact of a run, or a file below an allowed directory. */
  async traceFile(
    runId: string | undefined,
    name: string | undefined,
    path: string | undefined,
  ): Promise<string> {
    if (path !== undefined) {
      const { handle, realPath } = await this.#paths.openFile(path);
      await handle.close();
      return realPath;
    }
    if (runId === undefined)
      throw new ToolError("invalid", "Neither run_id nor path is given.", {
        hint: "Give the run_id of a run with evidence trace, or the path of a trace.zip.",
      });
    const artifacts = await this.tester.runs.artifacts(runId);
    const traces = artifacts.filter(
      (one) => one.name.endsWith(".zip") && (name === undefined || one.name === name),
    );
    const [trace] = traces;
    if (trace !== undefined) return trace.path;
    throw new ToolError(
      "not_found",
      `The run ${runId} has no trace${name === undefined ? "" : ` ${JSON.stringify(name.slice(0, 80))}`}.`,
      {
        hint: `It has ${artifacts.map((one) => one.name).join(", ")}. Run the test with evidence ["screenshot", "trace"].`,
      },
    );
  }
}
