import { readFileSync } from "node:fs";
import { copyFile, lstat, readFile } from "node:fs/promises";
import { basename, extname, relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { startDeadline } from "@refmcp/boundary";
import { clip, oneLine, ToolError } from "@refmcp/boundary/answer";
import { failure } from "../errors.ts";
import { escaped } from "../language/matching.ts";
import { Secrets, SecretsInRun } from "../secrets/secrets.ts";
import { type Calling, workMs } from "../session/deadline.ts";
import { type RunFolder, slugOf } from "../store/disk.ts";
import { isText, mimeOf, type RunStore } from "../store/runs.ts";
import { redactZip } from "../store/zip.ts";
import { shownArtifact } from "../verdict/report.ts";
import { playwrightTest, type SpecEvent } from "./command.ts";

interface Selection {
  readonly files: readonly string[];
  readonly grep?: string | undefined;
  readonly project?: string | undefined;
}

type ListedSpec = Pick<Place, "file" | "line" | "title"> & { readonly project: string | undefined };
type Place = Extract<SpecEvent, { kind: "tests" }>["tests"][number];

const MAX_FAILURES = 10;
const MAX_ARTIFACTS = 15;
const MAX_ARTIFACT_BYTES = 50_000_000;

export class Specs {
  readonly #folder: string | undefined;
  readonly #runs: RunStore;
  readonly #env: NodeJS.ProcessEnv;
  readonly #secrets: SecretsInRun;
  /** Spec files whose text is known. */
  readonly #read = new Set<string>();

  /** @param env the specs' environment; answers never show its secrets, nor parts of them. */
  constructor(folder: string | undefined, runs: RunStore, env: NodeJS.ProcessEnv) {
    const secrets = Secrets.from(env);
    this.#folder = folder;
    this.#runs = runs;
    this.#env = env;
    this.#secrets = new SecretsInRun(secrets, []);
    // Any spec can use any of them.
    for (const name of secrets.names) this.#secrets.written(name, "");
  }

  get folder(): string {
    if (this.#folder !== undefined) return this.#folder;
    throw failure("no_project", "No Playwright project is configured.");
  }

  /** All tests that match the selection, by file and line; nothing is run. */
  async list(selection: Selection, signal: AbortSignal) {
    const found: ListedSpec[] = [];
    const errors: string[] = [];
    const ended = await playwrightTest({
      project: this.folder,
      args: ["--list", ...argumentsOf(selection)],
      env: this.#env,
      signal,
      onEvent: (event) => {
        if (event.kind === "tests") found.push(...event.tests.map((test) => this.#shown(test)));
        if (event.kind === "error") errors.push(this.#plain(event.message));
      },
    });
    if (found.length === 0 && (errors.length > 0 || ended.code !== 0))
      throw nothing(errors, this.#plain(ended.output));
    return found.sort((a, b) => (a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1));
  }

  /** Runs the tests that match the selection, with progress for every test; no process outlives the call. */
  async run(selection: Selection & { readonly lastFailed: boolean }, call: Calling) {
    const began = performance.now();
    const project = this.folder;
    const folder = await this.#runs.begin();
    const counts = { passed: 0, failed: 0, flaky: 0, skipped: 0 };
    const failures: { test: string; error: string }[] = [];
    const attachments: { path: string; stem: string }[] = [];
    const errors: string[] = [];
    let total: number | undefined;
    let done = 0;
    // Before the call's own time limit, so that the verdicts so far are returned.
    const { signal, end } = startDeadline(workMs(call), call.signal);
    const onTest = (event: Extract<SpecEvent, { kind: "test" }>) => {
      // Interrupted tests have no verdict.
      if (!event.last || signal.aborted) return;
      this.#know(event.file);
      done += 1;
      const verdict = VERDICTS[event.outcome];
      counts[verdict] += 1;
      call.progress(done, total, `${verdict} ${this.#plain(event.title)}`);
      if (verdict !== "failed") return;
      failures.push({
        test: specLine(this.#shown(event)),
        error: clip(this.#plain(event.errors[0] ?? event.status), 1_000),
      });
      const stem = `${failures.length}-${slugOf(this.#plain(event.title), "test")}`;
      attachments.push(...event.attachments.map(({ path }) => ({ path, stem })));
    };
    try {
      const ended = await playwrightTest({
        project,
        args: [...(selection.lastFailed ? ["--last-failed"] : []), ...argumentsOf(selection)],
        env: this.#env,
        signal,
        onEvent: (event) => {
          if (event.kind === "begin") total = event.total;
          if (event.kind === "error" && !signal.aborted) errors.push(this.#plain(event.message));
          if (event.kind === "test") onTest(event);
        },
      }).catch((error: unknown) => {
        if (!signal.aborted || call.signal.aborted || done === 0) throw error;
        return { code: 1, output: "" };
      });
      const notRun = (total ?? done) - done;
      if (done === 0) throw nothing(errors, this.#plain(ended.output));
      for (const { path, stem } of attachments.slice(0, MAX_ARTIFACTS))
        await this.#keep(path, folder, stem);
      const artifacts = (await this.#runs.kept(folder)).map(shownArtifact);
      const durationMs = Math.round(performance.now() - began);
      const report = () => ({
        passed: counts.failed === 0 && errors.length === 0 && ended.code === 0,
        summary: Object.entries(counts)
          .flatMap(([verdict, count]) => (count > 0 ? `${count} ${verdict}` : []))
          .join(", "),
        durationMs,
        failures: failures.slice(0, MAX_FAILURES),
        not_shown: failures.length > MAX_FAILURES ? failures.length - MAX_FAILURES : undefined,
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

  #shown({ file, line, title, project }: Omit<Place, "id">) {
    this.#know(file);
    return {
      file: relative(this.folder, file).replaceAll("\\", "/"),
      line,
      title: oneLine(this.#plain(title)),
      project: project === "" ? undefined : oneLine(project),
    };
  }

  /** Remembers what a spec file says itself: a part of a secret in it reveals nothing. */
  #know(file: string): void {
    if (this.#secrets.isEmpty || this.#read.has(file)) return;
    this.#read.add(file);
    try {
      this.#secrets.know([readFileSync(file, "utf8")]);
    } catch {
      // It was deleted since: more is hidden.
    }
  }

  /** A text from the project without colors and secrets. */
  #plain(text: string): string {
    return this.#secrets.redact(stripVTControlCharacters(text).trim());
  }

  /** Copies a test's attachment into the run's folder, so that it can be viewed by run and name. */
  async #keep(path: string, folder: RunFolder, stem: string): Promise<void> {
    const stat = await lstat(path).catch(() => undefined);
    if (stat === undefined || !stat.isFile() || stat.size > MAX_ARTIFACT_BYTES) return;
    const end = extname(path)
      .toLowerCase()
      .replace(/[^.a-z0-9]/g, "");
    const name = `${stem}-${slugOf(basename(path, extname(path)), "attachment")}${end}`;
    if (isText(mimeOf(name))) {
      await folder.write(name, this.#secrets.redactFile(await readFile(path, "utf8")));
      return;
    }
    await folder.keep(name, async (copy) => {
      await copyFile(path, copy);
      if (end === ".zip" && !this.#secrets.isEmpty) await redactZip(copy, this.#secrets);
    });
  }
}

const VERDICTS = {
  expected: "passed",
  unexpected: "failed",
  flaky: "flaky",
  skipped: "skipped",
} as const;

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

function nothing(errors: readonly string[], output: string): ToolError {
  const said = clip(errors.join("\n") || output, 2_000);
  if (/No tests found/i.test(said) || said === "")
    return new ToolError("not_found", "No test of the project matches this selection.", {
      hint: "Call pw_list_specs without arguments to see all tests.",
    });
  return failure("project", `The project's tests cannot be loaded:\n${said}`);
}

/** A test on one line; the part before the title can be passed to pw_run_specs in `files`. */
export function specLine({ file, line, title, project }: ListedSpec): string {
  return `${file}:${line} ${title}${project === undefined ? "" : ` [${project}]`}`;
}

export function specText(report: Awaited<ReturnType<Specs["run"]>>): string {
  const { passed, summary, durationMs, failures, artifacts, run_id: id } = report;
  const { not_shown: more, not_run: notRun } = report;
  return [
    `${passed ? "All tests passed" : "Tests FAILED"}: ${summary} in ${durationMs} ms, run ${id}.`,
    ...failures.map(({ test, error }) => `✗ ${test}\n${error}`),
    ...(more === undefined ? [] : [`and ${more} more failures`]),
    ...(notRun === undefined
      ? []
      : [
          `${notRun} not run before the call timed out. Run them with files or grep, or raise --timeout-ms.`,
        ]),
    ...(report.notes ?? []).map((note) => `note: ${note}`),
    ...artifacts.map(({ path }) => path),
  ].join("\n");
}
