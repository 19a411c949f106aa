import { clip, oneLine, ToolError } from "@refmcp/boundary/answer";
import { failure } from "../errors.ts";
import type { Step } from "../language/ast.ts";
import { contextOptionsOf, type Script, secretsOf } from "../language/script.ts";
import { SecretsInRun } from "../secrets/secrets.ts";
import { type Calling, Deadline, workMs } from "../session/deadline.ts";
import {
  explained,
  notesOf,
  openSession,
  type PageSession,
  performAll,
  playSteps,
  readingNotes,
  titleOf,
} from "../session/page-session.ts";
import { type Look, type Seen, snapshotOf } from "../session/snapshot.ts";
import { shownArtifact } from "./report.ts";
import type { Tester } from "./tester.ts";

export interface BrowseRequest {
  readonly url: string;
  readonly begins: boolean;
  readonly steps: readonly string[];
  readonly device?: string | undefined;
  readonly look?: Look | undefined;
}

export interface Evaluation {
  readonly expression: string;
  readonly budget: number;
}

/** Maximum duration of one call to a session. */
export const BROWSE_MS = 40_000;

/** Steps that read or write a saved state, which contains the tokens of a signed-in user. */
const STATE_STEPS = new Set(["use state", "save state"]);

const deadlineOf = (call: Calling) => new Deadline(Math.min(BROWSE_MS, workMs(call)), call.signal);

/** A page that stays open between calls. */
export class BrowseSession {
  readonly #tester: Tester;
  readonly #session: PageSession;
  readonly #shown = new Set<string>();
  #isPrivate = false;
  #isScripted = false;

  private constructor(tester: Tester, session: PageSession) {
    this.#tester = tester;
    this.#session = session;
  }

  /** Opens a browser context, without a page yet. */
  static async open(tester: Tester, request: BrowseRequest, call: Calling): Promise<BrowseSession> {
    const { url, script, devices } = await tester.prepare(testOf(request));
    const services = await tester.servicesFor(url, new SecretsInRun(tester.options.secrets, []));
    const [device] = devices;
    if (device === undefined) throw new TypeError("no device");
    const folder = await tester.options.runs.begin();
    const deadline = deadlineOf(call);
    const artifacts = { kinds: [], stem: "page", writesSecrets: true };
    const options = { url, device, steps: script.steps, folder, deadline, artifacts, keepsDownloads: true };
    try {
      return new BrowseSession(tester, await openSession(options, services));
    } finally {
      deadline.end();
    }
  }

  /**
   * Performs steps, then looks at the page if asked to.
   *
   * @returns the state of the page; console lines, notes and artifacts are those since the last call.
   * @throws ToolError as a run does; `denied` for steps with secrets or saved states after `evaluate`.
   */
  async act({ begins, look, ...request }: BrowseRequest, call: Calling) {
    const { script } = await this.#tester.prepare(testOf(request));
    const { steps } = script;
    this.#keepApart(script);
    this.#session.secrets.know([request.url, ...request.steps]);
    if (!begins && Object.keys(contextOptionsOf(steps)).length > 0)
      throw new ToolError("invalid", "A session's time zone and locale cannot change after it is opened.", {
        hint: "Pass these steps to pw_browse_open.",
      });
    return this.#work(call, async (session) => {
      const play = begins ? playSteps : performAll;
      const failed = await play(steps, session, (index) => call.progress(index, steps.length));
      await session.settling.settled(session.deadline);
      return this.#report(session, look === undefined ? {} : await snapshotOf(session, look), failed, steps);
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
      throw failure("secret", "This session used a secret or a saved state, so it cannot evaluate code.", {
        hint: "Open another session for pw_browse_evaluate.",
      });
    this.#isScripted = true;
    return this.#work(call, async ({ page, deadline, secrets }) => {
      const evaluating = page
        .evaluateHandle(expression)
        .then((handle) => handle.evaluate((one: unknown) => (typeof one === "function" ? one() : one)));
      const value: unknown = await deadline.race(evaluating).catch((error: unknown) => {
        if (error instanceof ToolError || page.isClosed()) throw error;
        const reason = error instanceof Error ? error.message : String(error);
        throw new ToolError("invalid", `The expression failed: ${clip(oneLine(reason), 600)}`);
      });
      const text = secrets.redact(jsonOf(value));
      return text.length <= budget ? text : `${clip(text, budget - 100)}\n[cut: ${text.length} characters]`;
    });
  }

  /** Code that ran in a page could read a secret that is written later, so a session allows only one of the two. */
  #keepApart(script: Script): void {
    const isPrivate =
      secretsOf(script).length > 0 || script.steps.some(({ action }) => STATE_STEPS.has(action.kind));
    if (isPrivate && this.#isScripted)
      throw failure("secret", "This session evaluated code, so it cannot use secrets or saved states.", {
        hint: "Open another session for them.",
      });
    this.#isPrivate ||= isPrivate;
  }

  async #work<Value>(call: Calling, work: (session: PageSession) => Promise<Value>): Promise<Value> {
    const session = this.#session;
    await this.#tester.options.runs.touch(session.folder.id);
    session.deadline = deadlineOf(call);
    try {
      return await Promise.race([work(session), session.ended]);
    } catch (error) {
      throw session.secrets.redactError(await explained(error, session));
    } finally {
      session.deadline.end();
    }
  }

  async #report(
    session: PageSession,
    seen: Partial<Seen>,
    failed: string | undefined,
    steps: readonly Step[] = [],
  ) {
    const { page, events, artifacts, folder } = session;
    const title = await titleOf(session);
    const notes = [...folder.notes(), ...notesOf(session), ...readingNotes(steps)].slice(0, 10);
    const kept = (await this.#tester.options.runs.kept(folder)).filter(({ name }) => !this.#shown.has(name));
    for (const { name } of kept) this.#shown.add(name);
    const report = session.secrets.redactIn({
      url: page.url(),
      status: events.place.response?.status(),
      title,
      failed_step: failed,
      console: events.problems(),
      ...seen,
      notes: notes.length === 0 ? undefined : notes,
    });
    events.forget();
    artifacts.notes.length = 0;
    folder.forget();
    return { ...report, run_id: folder.id, artifacts: kept.map(shownArtifact) };
  }
}

export type Browsed = Awaited<ReturnType<BrowseSession["act"]>>;

const testOf = ({ url, steps, device = "desktop" }: Omit<BrowseRequest, "begins" | "look">) => ({
  ...{ url, steps, assertions: [], devices: [device] },
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
