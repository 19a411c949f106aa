import { clip, oneLine, ToolError } from "@refmcp/boundary/answer";
import { checkAll } from "../check/check.ts";
import type { Outcome } from "../check/expectation.ts";
import { failure } from "../errors.ts";
import type { Assertion, Step } from "../language/ast.ts";
import {
  assertionSentence,
  contextOptionsOf,
  type Script,
  secretsOf,
  setupLength,
  stepSentence,
} from "../language/script.ts";
import { SecretsInRun } from "../secrets/secrets.ts";
import { type Calling, Deadline, workMs } from "../session/deadline.ts";
import {
  checkRefusal,
  explained,
  notesOf,
  openSession,
  type PageSession,
  performAll,
  playSteps,
  titleOf,
} from "../session/page-session.ts";
import { type Look, type Seen, snapshotOf } from "../session/snapshot.ts";
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

/** What a session did, as a test: the sentences that succeeded, in the language's own words. */
export interface SessionScript {
  readonly url: string;
  readonly device: string | undefined;
  readonly steps: readonly string[];
  /** How many of them came before the page was opened. */
  readonly setup: number;
  readonly leftOut: readonly string[];
}

/** Maximum duration of one call to a session. */
export const BROWSE_MS = 40_000;

const deadlineOf = (call: Calling) => new Deadline(Math.min(BROWSE_MS, workMs(call)), call.signal);

/** A page that stays open between calls. */
export class BrowseSession {
  readonly #tester: Tester;
  readonly #session: PageSession;
  readonly #shown = new Set<string>();
  #isPrivate = false;
  #isScripted = false;
  /** What succeeded, checks as `expect` steps, and how many of these came before the page was opened. */
  readonly #done: Step[] = [];
  #setup = 0;
  readonly #leftOut: string[] = [];
  readonly #start: Pick<SessionScript, "url" | "device">;

  private constructor(
    tester: Tester,
    session: PageSession,
    { url, device }: Pick<BrowseRequest, "url" | "device">,
  ) {
    this.#tester = tester;
    this.#session = session;
    this.#start = { url, device };
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
    const options = {
      url,
      device,
      steps: script.steps,
      folder,
      deadline,
      artifacts,
      keepsDownloads: true,
    };
    try {
      return new BrowseSession(tester, await openSession(options, services), request);
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
    this.#keepApart(script);
    this.#session.secrets.know([request.url, ...request.steps, ...(request.assertions ?? [])]);
    if (!begins && Object.keys(contextOptionsOf(steps)).length > 0)
      throw new ToolError(
        "invalid",
        "A session's time zone and locale cannot change after it is opened.",
        {
          hint: "Pass these steps to pw_browse_open.",
        },
      );
    return this.#work(call, async (session) => {
      const failed = await this.#perform(steps, begins, session, call);
      const checked = await this.#check(script, failed, session);
      await session.settling.settled(session.deadline);
      const seen = look === undefined ? {} : await snapshotOf(session, look);
      return this.#report(session, { ...seen, ...checked }, failed);
    });
  }

  async #perform(
    steps: readonly Step[],
    begins: boolean,
    session: PageSession,
    call: Calling,
  ): Promise<string | undefined> {
    let performed = 0;
    const starting = (index: number) => {
      performed = index;
      call.progress(index, steps.length);
    };
    try {
      const failed = await (begins ? playSteps : performAll)(steps, session, starting);
      if (failed === undefined) performed = steps.length;
      return failed;
    } finally {
      if (begins) this.#setup = Math.min(performed, setupLength(steps));
      this.#done.push(...steps.slice(0, performed));
      const failing = steps[performed];
      if (failing !== undefined) this.#leftOut.push(`${stepSentence(failing)} (it failed)`);
    }
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
    for (const assertion of assertions) {
      const passed = outcomes.get(assertion)?.passed;
      if (passed === true)
        this.#done.push({ text: assertion.text, action: { kind: "expect", assertion } });
      else if (passed === false) this.#leftOut.push(`${assertionSentence(assertion)} (it failed)`);
    }
    const { device } = session;
    const report = { script, matrix: false, device };
    return { assertions: resultsOf(report, outcomes, "not checked: a step failed") };
  }

  /** What the session did so far, for a spec. */
  script(): SessionScript {
    const { found, secrets } = this.#session;
    const steps = this.#done.map((step) => stepSentence(step, found));
    return {
      ...this.#start,
      steps,
      setup: this.#setup,
      leftOut: secrets.redactIn(this.#leftOut),
    };
  }

  /**
   * Evaluates JavaScript in the current tab.
   *
   * @returns its value as JSON, at most `budget` characters.
   * @throws ToolError `denied` in a session that used a secret: code could read and encode it.
   */
  async evaluate({ expression, budget }: Evaluation, call: Calling): Promise<string> {
    if (this.#isPrivate)
      throw failure("secret", "This session used a secret, so it cannot evaluate code.", {
        hint: "Open another session for pw_browse_evaluate.",
      });
    this.#isScripted = true;
    this.#leftOut.push(`pw_browse_evaluate ${clip(expression, 100)}`);
    return this.#work(call, async ({ page, deadline, secrets }) => {
      const evaluating = page
        .evaluateHandle(expression)
        .then((handle) =>
          handle.evaluate((one: unknown) => (typeof one === "function" ? one() : one)),
        );
      const value: unknown = await deadline.race(evaluating).catch((error: unknown) => {
        if (error instanceof ToolError || page.isClosed()) throw error;
        const reason = error instanceof Error ? error.message : String(error);
        throw new ToolError("invalid", `The expression failed: ${clip(oneLine(reason), 600)}`);
      });
      const text = secrets.redact(jsonOf(value));
      return text.length <= budget
        ? text
        : `${clip(text, budget - 100)}\n[cut: ${text.length} characters]`;
    });
  }

  /** Code that ran in a page could read a secret that is written later, so a session allows only one of the two. */
  #keepApart(script: Script): void {
    const isPrivate = secretsOf(script).length > 0;
    if (isPrivate && this.#isScripted)
      throw failure("secret", "This session evaluated code, so it cannot use secrets.", {
        hint: "Open another session for them.",
      });
    this.#isPrivate ||= isPrivate;
  }

  async #work<Value>(
    call: Calling,
    work: (session: PageSession) => Promise<Value>,
  ): Promise<Value> {
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
    seen: Partial<Seen> & { readonly assertions?: CheckResult[] },
    failed: string | undefined,
  ) {
    const { page, events, artifacts, folder } = session;
    const title = await titleOf(session);
    const notes = [...folder.notes(), ...notesOf(session)].slice(0, 10);
    const kept = (await this.#tester.options.runs.kept(folder)).filter(
      ({ name }) => !this.#shown.has(name),
    );
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
    events.answered();
    artifacts.notes.length = 0;
    folder.forget();
    return { ...report, run_id: folder.id, artifacts: kept.map(shownArtifact) };
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
    const plain = (_key: string, one: unknown) => (typeof one === "bigint" ? String(one) : one);
    return JSON.stringify(value, plain) ?? "undefined";
  } catch {
    throw new ToolError(
      "invalid",
      "The value contains a circular reference, so it cannot be returned as JSON.",
    );
  }
}
