import { copyFile, lstat, readFile } from "node:fs/promises";
import { basename, relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { startDeadline } from "@refmcp/boundary";
import { clip, oneLine, ToolError } from "@refmcp/boundary/answer";
import { type Calling, workMs } from "../deadline.ts";
import { failure } from "../errors.ts";
import { shownArtifact } from "../run/report.ts";
import { Secrets } from "../secrets/secrets.ts";
import { NotKept, type RunFolder, slugOf } from "../store/disk.ts";
import { isText, mimeOf, type RunStore } from "../store/runs.ts";
import { escaped } from "../text.ts";
import { playwrightTest, type SpecTest } from "./command.ts";

interface Selection {
  readonly files: readonly string[];
  readonly grep?: string | undefined;
  readonly project?: string | undefined;
}

const MAX_FAILURES = 10;
const MAX_ARTIFACTS = 15;
const MAX_ARTIFACT_BYTES = 50_000_000;

const STATUSES = [
  ["expected", "passed"],
  ["unexpected", "failed"],
  ["flaky", "flaky"],
  ["skipped", "skipped"],
] as const;

/** The tests of the user's own Playwright project. */
export class Specs {
  readonly #folder: string | undefined;
  readonly #runs: RunStore;
  readonly #env: NodeJS.ProcessEnv;
  readonly #secrets: Secrets;

  /** @param env the specs' environment; answers never show its secrets. */
  constructor(folder: string | undefined, runs: RunStore, env: NodeJS.ProcessEnv) {
    this.#folder = folder;
    this.#runs = runs;
    this.#env = env;
    this.#secrets = Secrets.from(env);
  }

  get folder(): string {
    if (this.#folder !== undefined) return this.#folder;
    throw failure("no_project", "No Playwright project is configured.");
  }

  /** All tests that match the selection, one a line, by file and line; nothing is run. */
  async list(selection: Selection, signal: AbortSignal): Promise<string[]> {
    const args = ["--list", ...argumentsOf(selection)];
    const { tests, errors, output } = await this.#playwright(args, signal);
    if (tests.length === 0) throw this.#nothing(errors, output);
    return [...tests]
      .sort((a, b) => (a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1))
      .map((test) => this.#line(test));
  }

  /** Runs the tests that match the selection, with progress for every test; no process outlives the call. */
  async run(selection: Selection & { readonly lastFailed: boolean }, call: Calling) {
    const began = performance.now();
    const args = [...(selection.lastFailed ? ["--last-failed"] : []), ...argumentsOf(selection)];
    const folder = await this.#runs.begin(this.#secrets.redact);
    // Before the call's own time limit, so that the verdicts so far are returned.
    const { signal, end } = startDeadline(workMs(call), call.signal);
    let done = 0;
    const onLine = (line: string) => {
      const [, mark = "", title] = /^\s*(✓|✘|ok|x|-)\s+\d+ (.*)$/.exec(this.#plain(line)) ?? [];
      if (title === undefined) return;
      done += 1;
      const verdict = mark === "-" ? "skipped" : /[✓k]/.test(mark) ? "passed" : "failed";
      call.progress(done, undefined, `${verdict} ${oneLine(title)}`);
    };
    try {
      const { tests, errors, code, output } = await this.#playwright(args, signal, onLine);
      call.signal.throwIfAborted();
      // Interrupted tests, and those that were not reached, have no verdict.
      const judged = tests.filter(({ results }) =>
        results.some(({ status }) => status !== undefined && status !== "interrupted"),
      );
      if (judged.length === 0) throw this.#nothing(errors, output);
      const failed = judged.filter(({ status }) => status === "unexpected");
      await this.#keepAttachments(failed, folder);
      const count = (status: SpecTest["status"]) =>
        judged.filter((test) => test.status === status).length;
      const artifacts = (await this.#runs.kept(folder)).map(shownArtifact);
      const notRun = tests.length - judged.length;
      const report = () => ({
        passed: failed.length === 0 && errors.length === 0 && code === 0,
        summary: STATUSES.flatMap(([status, verdict]) =>
          count(status) > 0 ? `${count(status)} ${verdict}` : [],
        ).join(", "),
        durationMs: Math.round(performance.now() - began),
        failures: failed.slice(0, MAX_FAILURES).map((test) => this.#failure(test)),
        not_shown: failed.length > MAX_FAILURES ? failed.length - MAX_FAILURES : undefined,
        not_run: notRun > 0 ? notRun : undefined,
        notes: folder.notes().length === 0 ? undefined : folder.notes(),
        run_id: folder.id,
        artifacts,
      });
      await this.#runs.finish(folder, report());
      // Again, since the report's own file may not have been kept.
      return report();
    } catch (error) {
      await this.#runs.drop(folder.id);
      throw error;
    } finally {
      end();
    }
  }

  #playwright(args: readonly string[], signal: AbortSignal, onLine = (_line: string) => {}) {
    return playwrightTest({ project: this.folder, env: this.#env, args, signal, onLine });
  }

  /** A test on one line; the part before the title can be passed to pw_run_specs in `files`. */
  #line({ file, line, title, projectName: project }: SpecTest): string {
    const path = relative(this.folder, file).replaceAll("\\", "/");
    return `${path}:${line} ${oneLine(this.#plain(title))}${project === "" ? "" : ` [${oneLine(project)}]`}`;
  }

  #failure(test: SpecTest): { test: string; error: string } {
    const last = test.results.findLast(({ errors }) => errors.length > 0);
    const { message = "", stack = message } = last?.errors[0] ?? {};
    const error = stack === "" ? (test.results.at(-1)?.status ?? "") : stack;
    return { test: this.#line(test), error: clip(this.#plain(error), 1_000) };
  }

  /** A text from the project without colors and secrets. */
  #plain(text: string): string {
    return this.#secrets.redact(stripVTControlCharacters(text).trim());
  }

  #nothing(errors: readonly string[], output: string): ToolError {
    const message = clip(this.#plain(errors.join("\n") || output), 2_000);
    if (/No tests found/i.test(message) || message === "")
      return new ToolError("not_found", "No test of the project matches this selection.", {
        hint: "Call pw_list_specs without arguments to see all tests.",
      });
    return failure("project", `The project's tests cannot be loaded:\n${message}`);
  }

  /** Copies attachments of failed tests into the run's folder, so that they can be viewed by run and name. */
  async #keepAttachments(failed: readonly SpecTest[], folder: RunFolder): Promise<void> {
    const all = failed.flatMap(({ title, results }, n) =>
      (results.at(-1)?.attachments ?? []).flatMap(({ path }) =>
        path === undefined
          ? []
          : [{ path, stem: `${n + 1}-${slugOf(this.#plain(title), "test")}` }],
      ),
    );
    for (const { path, stem } of all.slice(0, MAX_ARTIFACTS)) {
      const stat = await lstat(path).catch(() => undefined);
      const end = /\.(?:png|zip|md|txt)$/.exec(path)?.[0];
      if (end === undefined || stat?.isFile() !== true || stat.size > MAX_ARTIFACT_BYTES) continue;
      const name = `${stem}-${slugOf(basename(path, end), "attachment")}${end}`;
      if (isText(mimeOf(name))) await folder.write(name, await readFile(path, "utf8"));
      // A trace has the texts of the page and all that the spec wrote.
      else if (end === ".zip" && !this.#secrets.isEmpty)
        await folder.keep(name, () => Promise.reject(new NotKept("it could show a secret")));
      else await folder.keep(name, (copy) => copyFile(path, copy));
    }
  }
}

/** Arguments of `playwright test`. No argument from the caller can act as an option. */
function argumentsOf({ files, grep, project }: Selection): string[] {
  return [
    ...(grep === undefined ? [] : [`--grep=${grep}`]),
    ...(project === undefined ? [] : [`--project=${project}`]),
    // Playwright treats them as patterns; line numbers follow a colon.
    ...files.map((file) => {
      const [, path = file, line = ""] = /^(.*?)((?::\d+){0,2})$/s.exec(file) ?? [];
      const pattern = escaped(path.replaceAll("\\", "/")).replaceAll("\\/", "/");
      return `${pattern.startsWith("-") ? `[-]${pattern.slice(1)}` : pattern}${line}`;
    }),
  ];
}

export function specText(report: Awaited<ReturnType<Specs["run"]>>): string {
  const { passed, summary, durationMs, failures, artifacts, run_id: id, notes = [] } = report;
  const { not_shown: more, not_run: notRun } = report;
  const rest = "Run them with files or grep, or raise --timeout-ms.";
  return [
    `${passed ? "All tests passed" : "Tests FAILED"}: ${summary} in ${durationMs} ms, run ${id}.`,
    ...failures.map(({ test, error }) => `✗ ${test}\n${error}`),
    ...(more === undefined ? [] : [`and ${more} more failures`]),
    ...(notRun === undefined ? [] : [`${notRun} not run before the call timed out. ${rest}`]),
    ...notes.map((note) => `note: ${note}`),
    ...artifacts.map(({ path }) => path),
  ].join("\n");
}
