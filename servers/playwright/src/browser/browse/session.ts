import { clip, oneLine, ToolError } from "@refmcp/boundary/answer";
import { setupLength } from "../language/ast.ts";
import { contextOptionsOf } from "../language/plan.ts";
import { type Script, secretsOf } from "../language/script.ts";
import { type Acting, arranged, explained, notesOf, openContext, performAll } from "../run/acting.ts";
import { Deadline } from "../run/deadline.ts";
import { Downloads } from "../run/downloads.ts";
import { Evidence } from "../run/evidence.ts";
import { arrive, endOf, recordOf } from "../run/navigate.ts";
import { Quiet } from "../run/quiet.ts";
import { type ShownArtifact, shownArtifact } from "../run/report.ts";
import type { Look } from "../run/run.ts";
import { SecretsInRun } from "../run/secrets-in-run.ts";
import { type Seen, snapshotOf } from "../run/snapshot.ts";
import { type Calling, type Tester, workMs } from "../run/tester.ts";

export interface BrowseRequest {
  /** The first page of a new session. */
  readonly url: string;
  readonly begins: boolean;
  readonly steps: readonly string[];
  readonly device?: string | undefined;
  readonly look?: Look | undefined;
}

/** The state of a session's page after a call. Console lines, notes and artifacts are those since the last call. */
export interface Browsed extends Partial<Seen> {
  readonly url: string;
  readonly status?: number;
  readonly title: string;
  /** A step that could not be performed, and why. */
  readonly failed_step?: string;
  readonly console: string[];
  readonly notes?: string[];
  readonly run_id: string;
  readonly artifacts: ShownArtifact[];
}

export interface Evaluation {
  readonly expression: string;
  /** Maximum characters of the value. */
  readonly budget: number;
}

/** Maximum duration of one call to a session. */
export const BROWSE_MS = 40_000;

/** Steps that read or write a saved state, which contains the tokens of a signed-in user. */
const STATE_STEPS = new Set(["use state", "save state"]);

/** A page that stays open between calls. */
export class BrowseSession {
  readonly #tester: Tester;
  readonly #acting: Omit<Acting, "deadline">;
  readonly #shown = new Set<string>();
  readonly #ended: Promise<never>;
  /** Secrets or saved states were used in it. */
  #isPrivate = false;
  /** The caller's code ran in it. */
  #isScripted = false;

  private constructor(tester: Tester, acting: Omit<Acting, "deadline">, url: URL) {
    this.#tester = tester;
    this.#acting = acting;
    this.#ended = endOf(url, acting.opened, acting.record);
  }

  /** Opens a browser context, without a page yet. */
  static async open(tester: Tester, request: BrowseRequest, call: Calling): Promise<BrowseSession> {
    const { url, script, devices } = await tester.prepare(testOf(request));
    const runServices = await tester.servicesFor(url, new SecretsInRun(tester.secrets, []));
    const [device] = devices.map((one) => arranged(one, script.steps));
    if (device === undefined) throw new TypeError("no device");
    const folder = await tester.runs.begin();
    const { secrets } = runServices;
    const evidence = new Evidence({ kinds: [], folder, stem: "page", secrets, writesSecrets: true });
    const deadline = new Deadline(Math.min(BROWSE_MS, workMs(call)), call.signal);
    try {
      const opened = await deadline.race(openContext(runServices, device, evidence));
      const record = recordOf(opened);
      record.downloads = new Downloads(opened.context, { folder, stem: "page", secrets, isKept: true });
      const quiet = new Quiet(opened.page, record, deadline);
      const acting = {
        ...{ runServices, opened, record, quiet, device, folder, evidence },
        found: new Map(),
      };
      return new BrowseSession(tester, acting, url);
    } finally {
      deadline.end();
    }
  }

  /**
   * Performs steps, then looks at the page if asked to.
   *
   * @throws ToolError as a run does; `denied` for steps with secrets or saved states after `evaluate`.
   */
  async act(request: BrowseRequest, call: Calling): Promise<Browsed> {
    const { script, url } = await this.#tester.prepare(testOf(request));
    this.#keepApart(script);
    this.#acting.runServices.secrets.know([request.url, ...request.steps]);
    if (!request.begins && Object.keys(contextOptionsOf(script.steps)).length > 0)
      throw new ToolError("invalid", "A session's time zone and locale cannot change after it is opened.", {
        hint: "Pass these steps to pw_browse_open.",
      });
    return this.#work(call, async (acting) => {
      const { record, deadline, opened, quiet } = acting;
      const { steps } = script;
      const setup = request.begins ? setupLength(steps) : 0;
      const perform = (from: number, to?: number) =>
        performAll(steps.slice(from, to), acting, (index) => call.progress(from + index, steps.length));
      let failed = await perform(0, setup);
      if (failed === undefined) {
        if (request.begins) await arrive(url, opened, record, deadline);
        failed = await perform(setup);
      }
      await quiet.settled();
      const { look } = request;
      const seen = look === undefined ? {} : await snapshotOf(record, deadline, look.limit, look.budget);
      return this.#report(acting, seen, failed);
    });
  }

  /**
   * Evaluates JavaScript in the current tab.
   *
   * @returns its value as JSON, at most `budget` characters.
   * @throws ToolError `denied` in a session that used a secret or a saved state: code could read and encode it.
   */
  async evaluate({ expression, budget }: Evaluation, call: Calling): Promise<string> {
    if (this.#isPrivate)
      throw new ToolError(
        "denied",
        "This session used a secret or a saved state, so it cannot evaluate code.",
        {
          hint: "Open another session for pw_browse_evaluate.",
          code: "secret",
        },
      );
    this.#isScripted = true;
    return this.#work(call, async ({ record, deadline }) => {
      const evaluating = record.page
        .evaluateHandle(expression)
        .then((handle) => handle.evaluate((one: unknown) => (typeof one === "function" ? one() : one)));
      const value: unknown = await deadline.race(evaluating).catch((error: unknown) => {
        if (error instanceof ToolError || record.page.isClosed()) throw error;
        const reason = error instanceof Error ? error.message : String(error);
        throw new ToolError("invalid", `The expression failed: ${clip(oneLine(reason), 600)}`);
      });
      const text = this.#acting.runServices.secrets.redact(jsonOf(value));
      return text.length <= budget ? text : `${clip(text, budget - 100)}\n[cut: ${text.length} characters]`;
    });
  }

  /** Code that ran in a page could read a secret that is written later, so a session allows only one of the two. */
  #keepApart(script: Script): void {
    const isPrivate =
      secretsOf(script).length > 0 || script.steps.some(({ action }) => STATE_STEPS.has(action.kind));
    if (isPrivate && this.#isScripted)
      throw new ToolError(
        "denied",
        "This session evaluated code, so it cannot use secrets or saved states.",
        {
          hint: "Open another session for them.",
          code: "secret",
        },
      );
    this.#isPrivate ||= isPrivate;
  }

  /** One call, within its time limit. */
  async #work<Value>(call: Calling, work: (acting: Acting) => Promise<Value>): Promise<Value> {
    await this.#tester.runs.touch(this.#acting.folder.id);
    const deadline = new Deadline(Math.min(BROWSE_MS, workMs(call)), call.signal);
    const acting = { ...this.#acting, deadline };
    acting.quiet.deadline = deadline;
    try {
      return await Promise.race([work(acting), this.#ended]);
    } catch (error) {
      throw this.#tester.redacted(explained(error, acting), acting.runServices.secrets);
    } finally {
      deadline.end();
    }
  }

  async #report(acting: Acting, seen: Partial<Seen>, failed: string | undefined): Promise<Browsed> {
    const { record, deadline, evidence, folder } = acting;
    const title = await deadline.within(1_000, record.page.title()).catch(() => undefined);
    const status = record.place.response?.status();
    const notes = [...folder.notes(), ...notesOf(acting)].slice(0, 10);
    const artifacts = (await this.#tester.runs.kept(folder)).filter(({ name }) => !this.#shown.has(name));
    for (const { name } of artifacts) this.#shown.add(name);
    const report = acting.runServices.secrets.redactIn({
      url: record.page.url(),
      ...(status === undefined ? {} : { status }),
      title: clip(oneLine(title ?? ""), 200),
      ...(failed === undefined ? {} : { failed_step: failed }),
      console: record.problems(),
      ...seen,
      ...(notes.length === 0 ? {} : { notes }),
    });
    record.forget();
    evidence.notes.length = 0;
    folder.forget();
    return { ...report, run_id: folder.id, artifacts: artifacts.map(shownArtifact) };
  }
}

const testOf = ({ url, steps, device = "desktop" }: BrowseRequest) => ({
  url,
  steps,
  assertions: [],
  devices: [device],
});

function jsonOf(value: unknown): string {
  try {
    const plain = (_key: string, one: unknown) => (typeof one === "bigint" ? String(one) : one);
    return JSON.stringify(value, plain) ?? "undefined";
  } catch {
    throw new ToolError(
      "invalid",
      "The value contains a circular reference, so it cannot be returned as JSON.",
    );
  }
}
