import { clip, oneLine, ToolError } from "@refmcp/boundary/answer";
import { checkAll } from "../check/check.ts";
import type { Outcome } from "../check/expectation.ts";
import { type Calling, Deadline, workMs } from "../deadline.ts";
import { failure } from "../errors.ts";
import { type Assertion, type Script, secretsOf } from "../language/sentences.ts";
import {
  checkRefusal,
  explained,
  notesOf,
  openSession,
  type PageSession,
  performAll,
  playSteps,
  titleOf,
} from "../page/session.ts";
import { type Look, type Seen, snapshotOf } from "../page/snapshot.ts";
import { type CheckResult, shownArtifact } from "./report.ts";
import { resultsOf } from "./run.ts";
import type { Tester } from "./tester.ts";

export interface BrowseRequest {
  readonly url: string;
  readonly begins: boolean;
  readonly steps: readonly string[];
  readonly assertions?: readonly string[];
  readonly device?: string | undefined;
  readonly look?: Look | undefined;
}

export interface Evaluation {
  readonly expression: string;
  readonly budget: number;
}

/** Maximum duration of one call to a session. */
export const BROWSE_MS = 40_000;

const deadlineOf = (call: Calling) => new Deadline(Math.min(BROWSE_MS, workMs(call)), call.signal);

/** A page that stays open between calls. */
export class BrowseSession {
  readonly #tester: Tester;
  readonly #session: PageSession;
  readonly #shown = new Set<string>();

  private constructor(tester: Tester, session: PageSession) {
    this.#tester = tester;
    this.#session = session;
  }

  /** Opens a browser context, without a page yet. */
  static async open(tester: Tester, request: BrowseRequest, call: Calling): Promise<BrowseSession> {
    const { url, devices } = await tester.prepare(testOf(request));
    const services = await tester.servicesFor(url);
    const [device] = devices;
    if (device === undefined) throw new TypeError("no device");
    const folder = await tester.options.runs.begin(tester.options.secrets.redact);
    const deadline = deadlineOf(call);
    const artifacts = { kinds: [], stem: "page" };
    const options = { url, device, folder, deadline, artifacts, keepsDownloads: true };
    try {
      return new BrowseSession(tester, await openSession(options, services));
    } finally {
      deadline.end();
    }
  }

  /**
   * Performs steps and checks assertions, then looks at the page if asked to.
   *
   * @returns the state of the page; console lines, notes and artifacts are those since the last call.
   * @throws ToolError as a run does; `denied` for steps with secrets after `evaluate`.
   */
  async act({ begins, look, ...request }: BrowseRequest, call: Calling) {
    const { script } = await this.#tester.prepare(testOf(request));
    const { steps } = script;
    if (secretsOf(script).length > 0) this.#session.secrets.use();
    return this.#work(call, async (session) => {
      const play = begins ? playSteps : performAll;
      const failed = await play(steps, session, (n) => call.progress(n, steps.length));
      const checked = await this.#check(script, failed, session);
      await session.settling.settled(session.deadline);
      const seen = look === undefined ? {} : await snapshotOf(session, look);
      return this.#report(session, { ...seen, ...checked }, failed);
    });
  }

  /** Checks assertions as a run does. */
  async #check(
    script: Script,
    failed: string | undefined,
    session: PageSession,
  ): Promise<{ assertions?: CheckResult[] }> {
    const { assertions } = script;
    if (assertions.length === 0) return {};
    const outcomes = new Map<Assertion, Outcome>();
    if (failed === undefined) {
      await checkAll(assertions, session, outcomes);
      checkRefusal(session);
    }
    return { assertions: resultsOf(script, outcomes, "not checked: a step failed") };
  }

  /**
   * Evaluates JavaScript in the current tab.
   *
   * @returns its value as JSON, at most `budget` characters.
   * @throws ToolError `denied` in a session that used a secret: code could read and encode it.
   */
  async evaluate({ expression, budget }: Evaluation, call: Calling): Promise<string> {
    if (!this.#session.secrets.allowCode())
      throw failure("secret", "This session used a secret, so it cannot evaluate code.", {
        hint: "Open another session for pw_browse_evaluate.",
      });
    return this.#work(call, async ({ page, deadline, secrets: { all } }) => {
      // A function is called.
      const evaluating = page
        .evaluateHandle(expression)
        .then((ref) => ref.evaluate((value) => (typeof value === "function" ? value() : value)));
      const value: unknown = await deadline.race(evaluating).catch((error: unknown) => {
        if (error instanceof ToolError || page.isClosed()) throw error;
        const reason = error instanceof Error ? error.message : String(error);
        throw new ToolError("invalid", `The expression failed: ${clip(oneLine(reason), 600)}`);
      });
      const text = all.redact(jsonOf(value));
      return text.length <= budget
        ? text
        : `${clip(text, budget - 100)}\n[cut: ${text.length} characters]`;
    });
  }

  async #work<Value>(
    call: Calling,
    work: (session: PageSession) => Promise<Value>,
  ): Promise<Value> {
    const session = this.#session;
    await this.#tester.options.runs.touch(session.folder.id);
    session.deadline = deadlineOf(call);
    try {
      return session.secrets.all.redactIn(await Promise.race([work(session), session.ended]));
    } catch (error) {
      throw session.secrets.all.redactError(await explained(error, session));
    } finally {
      session.deadline.end();
    }
  }

  async #report(
    session: PageSession,
    seen: Partial<Seen> & { readonly assertions?: CheckResult[] },
    failed: string | undefined,
  ) {
    const { page, events, artifacts, folder } = session;
    const title = await titleOf(session);
    const notes = [...folder.notes(), ...notesOf(session)].slice(0, 10);
    const files = (await this.#tester.options.runs.kept(folder)).filter(
      ({ name }) => !this.#shown.has(name),
    );
    for (const { name } of files) this.#shown.add(name);
    const report = {
      url: page.url(),
      status: events.place.response?.status(),
      title,
      failed_step: failed,
      console: events.problems(),
      ...seen,
      notes: notes.length === 0 ? undefined : notes,
    };
    events.answered();
    artifacts.notes.length = 0;
    folder.forget();
    return { ...report, run_id: folder.id, artifacts: files.map(shownArtifact) };
  }
}

export type Browsed = Awaited<ReturnType<BrowseSession["act"]>>;

const testOf = ({
  url,
  steps,
  assertions = [],
  device = "desktop",
}: Omit<BrowseRequest, "begins" | "look">) => ({ url, steps, assertions, devices: [device] });

function jsonOf(value: unknown): string {
  try {
    const plain = (_key: string, item: unknown) => (typeof item === "bigint" ? String(item) : item);
    return JSON.stringify(value, plain) ?? "undefined";
  } catch {
    throw new ToolError(
      "invalid",
      "The value contains a circular reference, so it cannot be returned as JSON.",
    );
  }
}
