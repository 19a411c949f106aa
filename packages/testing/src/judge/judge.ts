// Judges one server: starts it as hosts do, once for each question, and collects what it breaks.
import {
  HOSTS,
  type ListedTool,
  listProblems,
  type SurfaceLimits,
  surfaceProblems,
  tokensOf,
} from "../portable.ts";
import { type Finding, Findings, shown } from "./finding.ts";
import { HttpLink } from "./http.ts";
import { judgeHttp } from "./http-messages.ts";
import { type Json, type Link, objectOf } from "./link.ts";
import {
  isAlive,
  judgeGarbage,
  judgeLists,
  judgeMessages,
  judgeModern,
  judgeUnknown,
} from "./protocol.ts";
import { type Family, familyOf, RULES, SEVERITIES, type Severity } from "./rules.ts";
import {
  cameOf,
  type Era,
  initializeParams,
  LEGACY,
  MODERN,
  newId,
  openLink,
  requestText,
  resultOf,
  Session,
  type Target,
} from "./session.ts";
import { endProcess, isRunning, StdioLink } from "./stdio.ts";
import {
  callHostile,
  callValid,
  type Figures,
  LIMITS,
  type Limits,
  type ValidCalls,
} from "./tool-calls.ts";

export interface JudgeOptions extends Partial<ValidCalls> {
  readonly target: Target;
  readonly limits?: Partial<Limits>;
  readonly surface?: SurfaceLimits;
  /** About the size of a large hostile message. Default: 1 MB. */
  readonly bytes?: number;
  /** How long the server may take to start. Default: 60 s. */
  readonly startMs?: number;
  /** Only the rules of these families. */
  readonly only?: readonly Family[];
  /** Says what is done now. */
  readonly progress?: (what: string) => void;
}

export interface Verdict {
  readonly server: { readonly name: string; readonly version: string };
  /** The revisions that it speaks, of the two that were tried. */
  readonly eras: readonly Era[];
  readonly figures: Figures & {
    readonly tools: number;
    readonly tokens: number;
    readonly startMs: number;
  };
  /** Most severe first. */
  readonly findings: readonly Finding[];
  readonly notes: readonly string[];
}

/** The server cannot be judged, and why. */
export class CannotJudge extends Error {}

/** A running session and what the server said about itself. */
interface Opened {
  readonly session: Session;
  readonly result: Json;
  readonly ms: number;
}

/** @throws CannotJudge if the server speaks neither revision. */
export async function judge(options: JudgeOptions): Promise<Verdict> {
  const judging = new Judge(options);
  try {
    return await judging.run();
  } finally {
    await judging.close();
  }
}

class Judge {
  readonly #options: JudgeOptions;
  readonly #limits: Limits;
  readonly #findings = new Findings();
  readonly #refusals: string[] = [];
  readonly #links: Link[] = [];

  constructor(options: JudgeOptions) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
  }

  #link(era: Era): Link {
    const link = openLink(this.#options.target, this.#findings, era);
    this.#links.push(link);
    return link;
  }

  /** Ends everything that was started. */
  async close(): Promise<void> {
    for (const link of this.#links) await link.close();
  }

  #wants(...families: Family[]): boolean {
    const { only } = this.#options;
    return only === undefined || families.some((family) => only.includes(family));
  }

  #say(what: string): void {
    this.#options.progress?.(what);
  }

  async run(): Promise<Verdict> {
    const findings = this.#findings;
    this.#say("Starting the server");
    const legacy = await this.#open(LEGACY);
    const modern = await this.#open(MODERN);
    const main = legacy ?? modern;
    if (main === undefined)
      throw new CannotJudge(`The server answers in neither revision. ${this.#refusals.join(" ")}`);
    if (legacy === undefined || modern === undefined)
      findings.note(
        `The server does not speak ${legacy === undefined ? LEGACY : MODERN}, so the rules of that revision were not checked.`,
      );
    if (main.ms > this.#limits.firstMs)
      findings.add(
        "process-start",
        "start",
        "",
        `The first answer came after ${Math.round(main.ms)} ms.`,
      );
    const { name, version } = objectOf(
      main.result["serverInfo"] ??
        objectOf(main.result["_meta"])["io.modelcontextprotocol/serverInfo"],
    );

    let tools: ListedTool[] = [];
    for (const one of [legacy, modern]) {
      if (one === undefined) continue;
      const found = await this.#judgeSession(one);
      if (one === main) tools = found;
    }
    this.#judgeSurface(tools, String(main.result["instructions"] ?? ""));
    const answerBytes = await this.#callValid(main.session.era, tools);
    if (main.session.link instanceof StdioLink) {
      await this.#judgeEnd(main.session.link);
      if (legacy !== undefined) await this.#judgeStarts();
    }
    for (const one of [legacy, modern]) await one?.session.link.close();
    const figures = await this.#callHostile(main.session.era, tools);

    const wanted = findings.all.filter(({ rule }) => this.#wants(familyOf(rule)));
    return {
      server: { name: shown(name ?? "unknown"), version: shown(version ?? "unknown") },
      eras: [legacy, modern].flatMap((one) => one?.session.era ?? []),
      figures: {
        ...figures,
        answerBytes: Math.max(figures.answerBytes, answerBytes, main.session.largest),
        tools: tools.length,
        tokens: tokensOf(tools),
        startMs: Math.round(main.ms),
      },
      findings: wanted.sort((a, b) => rankOf(a) - rankOf(b)),
      notes: findings.notes,
    };
  }

  /** Starts the server in one revision; nothing if it does not speak it. */
  async #open(era: Era): Promise<Opened | undefined> {
    const { startMs = 60_000 } = this.#options;
    const link = this.#link(era);
    const session = new Session(link, era, startMs, this.#findings);
    const params = initializeParams(LEGACY);
    const first =
      era === LEGACY
        ? await session.request("initialize", params)
        : await session.request("server/discover");
    const result = resultOf(first);
    const isSpoken =
      era === LEGACY ? result !== undefined : Array.isArray(result?.["supportedVersions"]);
    if (!isSpoken || result === undefined) {
      const stderr = link instanceof StdioLink ? link.stderr.slice(-500) : "";
      this.#refusals.push(shown(`${era}: ${cameOf(first)} ${stderr}`.trim()));
      if (era === MODERN) await this.#judgeDiscover(session);
      await link.close();
      return undefined;
    }
    if (era === LEGACY) {
      await session.notify("notifications/initialized");
      const version = String(result["protocolVersion"]);
      if (link instanceof HttpLink) link.negotiated(version);
      if (version !== LEGACY)
        this.#findings.note(
          `The server chose ${shown(version)} instead of ${LEGACY}; it was judged by the rules of ${LEGACY}.`,
        );
    }
    return {
      session: new Session(link, era, this.#limits.requestMs, this.#findings),
      result,
      ms: first.ms,
    };
  }

  /** A server that answers as in 2026-07-28, but has no server/discover. */
  async #judgeDiscover(session: Session): Promise<void> {
    if (!session.link.isOpen) return;
    const probe = new Findings();
    const quiet = new Session(session.link, MODERN, 2_000, probe);
    const list = resultOf(await quiet.request("tools/list"));
    if (typeof list?.["resultType"] !== "string") return;
    this.#findings.add(
      "modern-discover",
      MODERN,
      "server/discover",
      "tools/list has a resultType, but server/discover does not work.",
    );
  }

  async #judgeSession({ session, result }: Opened): Promise<ListedTool[]> {
    const findings = this.#findings;
    const { era, link } = session;
    this.#say(`Judging messages of ${era}`);
    const capabilities = objectOf(result["capabilities"]);
    if (era === LEGACY) {
      const info = objectOf(result["serverInfo"]);
      const isComplete = [result["protocolVersion"], info["name"], info["version"]].every(
        (one) => typeof one === "string",
      );
      if (!isComplete || result["capabilities"] === undefined)
        findings.add("init-shape", era, "initialize", JSON.stringify(result));
    } else if (result["capabilities"] === undefined)
      findings.add("modern-discover", era, "server/discover", JSON.stringify(result));
    const tools = await judgeLists(session, capabilities, findings);
    if (this.#wants("request", "modern")) await judgeUnknown(session, capabilities, findings);
    if (this.#wants("rpc", "request", "modern")) await judgeMessages(session, findings);
    if (era === MODERN && this.#wants("modern")) await judgeModern(session, findings);
    const stderr = () => (link instanceof StdioLink ? link.stderr.slice(-300) : "");
    if (!(await isAlive(session, findings, "requests for unknown things", stderr()))) return tools;
    if (link instanceof HttpLink && "url" in this.#options.target && this.#wants("http")) {
      const again = await this.#open(era);
      if (again?.session.link instanceof HttpLink)
        await judgeHttp(session, again.session.link, this.#options.target.url, findings);
      await again?.session.link.close();
    }
    if (link instanceof StdioLink && this.#wants("rpc", "process")) {
      await judgeGarbage(session, findings);
      await isAlive(session, findings, "a line that is not JSON", stderr());
    }
    return tools;
  }

  #judgeSurface(tools: readonly ListedTool[], instructions: string): void {
    for (const tool of tools)
      this.#findings.addAll(
        surfaceProblems(tool, this.#options.surface ?? HOSTS),
        tool.name,
        "tools/list",
      );
    this.#findings.addAll(listProblems(tools, instructions), "all tools", "tools/list");
  }

  async #callValid(era: Era, tools: readonly ListedTool[]): Promise<number> {
    const { calls = {}, readOnly = false, watch } = this.#options;
    if (Object.keys(calls).length === 0 && !readOnly) return 0;
    this.#say("Calling tools with valid arguments");
    const opened = await this.#open(era);
    if (opened === undefined) return 0;
    const largest = await callValid(
      opened.session,
      tools,
      { calls, readOnly, watch },
      this.#findings,
    );
    await opened.session.link.close();
    return largest;
  }

  async #callHostile(era: Era, tools: readonly ListedTool[]): Promise<Figures> {
    if (!this.#wants("hostile", "input", "error", "answer"))
      return { blockedMs: 0, peakMb: 0, answerBytes: 0 };
    this.#say("Calling tools with arguments that they must refuse");
    const open = async () => {
      const opened = await this.#open(era);
      if (opened === undefined)
        throw new CannotJudge(`The server does not start again. ${this.#refusals.at(-1)}`);
      return opened.session;
    };
    return await callHostile(
      open,
      tools,
      { bytes: this.#options.bytes ?? 1_000_000, limits: this.#limits },
      this.#findings,
    );
  }

  /** Closes stdin, as hosts do at the end. */
  async #judgeEnd(link: StdioLink): Promise<void> {
    if (!this.#wants("process") || !link.isOpen) return;
    this.#say("Ending the server");
    const { exitMs } = this.#limits;
    const family = link.processes();
    const exit = await link.end(exitMs);
    if (exit === undefined) {
      this.#findings.add(
        "process-stdin",
        "stdin",
        "the end of stdin",
        `The process still runs after ${exitMs} ms.`,
      );
      return;
    }
    if (exit.code !== 0)
      this.#findings.add(
        "process-exit-code",
        "stdin",
        "the end of stdin",
        exit.signal ?? `The exit code ${exit.code}.`,
      );
    const isLeft = () => family.filter(isRunning);
    for (const end = performance.now() + exitMs; isLeft().length > 0 && performance.now() < end; )
      await new Promise((resolve) => setTimeout(resolve, 50));
    const left = isLeft();
    if (left.length > 0)
      this.#findings.add(
        "process-children",
        "stdin",
        "the end of stdin",
        `Still running: ${left.map((one) => one.name).join(", ")}.`,
      );
    for (const one of left) endProcess(one);
  }

  /** Other ways to begin and end: an unknown revision and SIGTERM, a request before initialize. */
  async #judgeStarts(): Promise<void> {
    const { startMs = 60_000 } = this.#options;
    const findings = this.#findings;
    if (this.#wants("init", "process")) {
      const link = this.#link(LEGACY);
      const session = new Session(link, LEGACY, startMs, findings);
      const reply = await session.request("initialize", initializeParams("1999-01-01"));
      const version = resultOf(reply)?.["protocolVersion"];
      if (typeof version !== "string" || version === "1999-01-01")
        findings.add(
          "init-version",
          LEGACY,
          "initialize for the revision 1999-01-01",
          cameOf(reply),
        );
      if (link instanceof StdioLink && link.isOpen && process.platform !== "win32") {
        const exit = await link.signal("SIGTERM", this.#limits.exitMs);
        if (exit === undefined)
          findings.add(
            "process-sigterm",
            "SIGTERM",
            "SIGTERM",
            `The process still runs after ${this.#limits.exitMs} ms.`,
          );
      }
      await link.close();
    }
    if (!this.#wants("init")) return;
    const link = this.#link(LEGACY);
    const early = requestText(newId(), "tools/list", {});
    await link.tell(early);
    const reply = await new Session(link, LEGACY, startMs, findings).request(
      "initialize",
      initializeParams(LEGACY),
    );
    if (resultOf(reply) === undefined)
      findings.add("init-early", LEGACY, `${early}, then initialize`, cameOf(reply));
    await link.close();
  }
}

function rankOf({ rule }: Finding): number {
  return SEVERITIES.indexOf(RULES[rule].severity);
}

export function countOf(findings: readonly Finding[], severity: Severity): number {
  return findings.filter(({ rule }) => RULES[rule].severity === severity).length;
}
