import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { type Answerer, CAPABILITIES, CLIENT_INFO, likelyAnswer, requestWriter } from "./client.ts";
import { keyOf } from "./exchange.ts";
import { Ledger } from "./ledger.ts";
import { type Fields, fieldsAt, isFields, MODERN, type Revision } from "./revisions.ts";

/** How a server is started. */
export interface Launch {
  /** The file that Node.js runs. */
  readonly file: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string | undefined;
}

export interface RecorderOptions {
  /** The client's capabilities. Default: all of the revision. */
  readonly capabilities?: Fields;
  /** Answers the server's questions. Default: `likelyAnswer`. */
  readonly answer?: Answerer;
}

/** How long an answer may take before the test fails; only for hangs. */
const HANG_MS = 60_000;

/**
 * Exchanges raw lines with a server process in one protocol revision, and checks every line of the server.
 *
 * ```ts
 * const recorder = new Recorder({ file }, "2025-06-18");
 * await recorder.open();
 * await recorder.request("tools/list");
 * expect(await recorder.finish()).toEqual([]);
 * ```
 */
export class Recorder {
  readonly revision: Revision;
  readonly capabilities: Fields;
  /** Every line of the server, parsed, in order; the entries of a batch separately, too. */
  readonly messages: Fields[] = [];
  /** The lines that were batches. */
  readonly batches: unknown[][] = [];
  stderr = "";
  /** Makes a request as a client of this revision writes it, with a fresh id. */
  readonly message: ReturnType<typeof requestWriter>;
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #ledger: Ledger;
  readonly #answer: Answerer;
  readonly #exit: Promise<unknown>;
  readonly #waiting = new Set<() => void>();
  #rest = Buffer.alloc(0);
  #ids = 0;

  constructor(
    { file, args = [], env = {}, cwd }: Launch,
    revision: Revision,
    options: RecorderOptions = {},
  ) {
    this.revision = revision;
    this.capabilities = options.capabilities ?? CAPABILITIES[revision];
    this.#answer = options.answer ?? likelyAnswer;
    this.message = requestWriter(revision, this.capabilities, () => {
      this.#ids += 1;
      return this.#ids;
    });
    this.#ledger = new Ledger(revision);
    this.#process = spawn(process.execPath, [file, ...args], {
      env: { ...process.env, ...env },
      cwd,
      stdio: ["pipe", "pipe", "pipe"],
    });
    const { stdin, stdout, stderr } = this.#process;
    this.#exit = once(this.#process, "close");
    stdin.on("error", () => undefined);
    stdout.on("data", (chunk: Buffer) => this.#read(chunk));
    stderr.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
    });
  }

  get isModern(): boolean {
    return this.revision === MODERN;
  }

  /** Opens the connection; its result is that of `initialize` or `server/discover`. */
  async open(): Promise<Fields> {
    if (this.isModern) return fieldsAt(await this.request("server/discover"), "result");
    const { capabilities } = this;
    const params = { protocolVersion: this.revision, capabilities, clientInfo: CLIENT_INFO };
    const answer = await this.request("initialize", params);
    this.notify("notifications/initialized");
    return fieldsAt(answer, "result");
  }

  /** Sends a request and waits for its answer. */
  async request(method: string, params?: Fields, meta?: Fields): Promise<Fields> {
    return this.sendRequest(this.message(method, params, meta));
  }

  /** Sends a raw request and waits for its response. */
  async sendRequest(message: Fields): Promise<Fields> {
    this.#ledger.asked(message);
    const answer = this.next(
      (reply) => !("method" in reply) && keyOf(reply.id) === keyOf(message.id),
    );
    this.write(JSON.stringify(message));
    return answer;
  }

  /**
   * Like `request`, and answers what the server asks for on the way: in the modern era, by trying again, ten times
   * at most; a server may still ask then.
   */
  async complete(method: string, params: Fields = {}, meta?: Fields): Promise<Fields> {
    let reply = await this.request(method, params, meta);
    for (let round = 1; round < 10; round += 1) {
      const { resultType, inputRequests, requestState } = fieldsAt(reply, "result");
      if (resultType !== "input_required") break;
      const inputResponses: Fields = {};
      for (const [key, question] of Object.entries(fieldsAt(inputRequests))) {
        const { method: asks, params: details } = fieldsAt(question);
        inputResponses[key] = this.#answer(String(asks), fieldsAt(details));
      }
      const state = requestState === undefined ? {} : { requestState };
      reply = await this.request(method, { ...params, inputResponses, ...state }, meta);
    }
    return reply;
  }

  notify(method: string, params?: Fields): void {
    if (method === "notifications/cancelled") this.#ledger.cancelled(params?.requestId);
    this.write(
      JSON.stringify({ jsonrpc: "2.0", method, ...(params === undefined ? {} : { params }) }),
    );
  }

  /** Records a request that is sent with `write`. */
  expect(message: Fields): void {
    this.#ledger.asked(message);
  }

  /** Writes a raw line. */
  write(line: string | Uint8Array): void {
    this.#process.stdin.write(Buffer.concat([Buffer.from(line), Buffer.from("\n")]));
  }

  /** The next message that matches. @throws Error if none arrives. */
  next(fits: (message: Fields) => boolean): Promise<Fields> {
    return this.find(fits, this.messages.length);
  }

  /** The first message that matches, from the `from`-th on. @throws Error if none arrives. */
  find(fits: (message: Fields) => boolean, from = 0): Promise<Fields> {
    return new Promise((resolve, reject) => {
      let seen = from;
      const look = () => {
        while (seen < this.messages.length) {
          const message = this.messages[seen];
          seen += 1;
          if (message === undefined || !fits(message)) continue;
          clearTimeout(timer);
          this.#waiting.delete(look);
          resolve(message);
          return;
        }
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(look);
        const said = JSON.stringify(this.messages.slice(from)).slice(0, 2000);
        reject(
          new Error(
            `No such message in ${HANG_MS} ms. Since then: ${said}. stderr: ${this.stderr.slice(-2000)}`,
          ),
        );
      }, HANG_MS);
      this.#waiting.add(look);
      look();
    });
  }

  /** Waits until the server has handled all earlier lines: it answers a `ping`, or `server/discover`. */
  async alive(): Promise<void> {
    const reply = await this.request(this.isModern ? "server/discover" : "ping");
    if (!("result" in reply)) throw new Error(`The server is not well: ${JSON.stringify(reply)}`);
  }

  /** The problems in the lines since the last time. */
  takeProblems(): string[] {
    return this.#ledger.problems.splice(0);
  }

  /** Ends the input, waits for the process to exit, and returns all problems in the server's output. */
  async finish(): Promise<string[]> {
    this.#process.stdin.end();
    const killer = setTimeout(() => this.#process.kill("SIGKILL"), HANG_MS);
    await this.#exit;
    clearTimeout(killer);
    const problems = this.takeProblems();
    for (const open of this.#ledger.unanswered) problems.push(`no answer to ${open}`);
    const { exitCode, signalCode } = this.#process;
    if (exitCode !== 0)
      problems.push(
        `the process ended with ${exitCode ?? signalCode}: ${this.stderr.slice(-1000)}`,
      );
    if (this.#rest.length > 0)
      problems.push(`the last line has no end: ${this.#rest.toString().slice(0, 200)}`);
    return problems;
  }

  #read(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    for (let end = this.#rest.indexOf("\n"); end !== -1; end = this.#rest.indexOf("\n")) {
      const line = this.#rest.subarray(0, end);
      this.#rest = this.#rest.subarray(end + 1);
      this.#line(line);
    }
    for (const look of [...this.#waiting]) look();
  }

  #line(line: Buffer): void {
    let value: unknown;
    try {
      value = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(line));
    } catch (error) {
      this.#ledger.problems.push(
        `a line is not JSON in UTF-8 (${String(error)}): ${line.toString().slice(0, 200)}`,
      );
      return;
    }
    this.#ledger.received(value);
    const messages = Array.isArray(value) ? value : [value];
    if (Array.isArray(value)) this.batches.push(value);
    for (const message of messages.filter(isFields)) {
      this.messages.push(message);
      if (typeof message.method === "string" && "id" in message)
        this.#reply(message.id, message.method, message);
    }
  }

  #reply(id: unknown, method: string, question: Fields): void {
    const result = this.#answer(method, fieldsAt(question, "params"));
    if (result !== undefined) this.write(JSON.stringify({ jsonrpc: "2.0", id, result }));
  }
}
