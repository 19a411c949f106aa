// What benchmarks of daily tasks share: an agent that counts what a model pays for, and the table that compares servers.

/** @typedef {import("./bench-kit.mjs").RawClient} RawClient */
/** @typedef {{ calls: number, tokens: number, ms: number } | "–" | "fails"} Cost "–": the server can't do the task */

export const CHARS_PER_TOKEN = 3.5;
/** More than this doesn't fit into the context of any model, so that the task can't be done. */
const MAX_TOKENS = 1_000_000;

/** REFMCP_DAILY runs only the tasks with one of these texts in their names, separated by commas, and prints what is said. */
const ONLY = process.env["REFMCP_DAILY"];

/** @param {{ name: string }} task */
export const wanted = ({ name }) => (ONLY ?? "").split(",").some((part) => name.includes(part));

/** What calls a server and counts what that costs. */
export class Agent {
  calls = 0;
  chars = 0;
  ms = 0;
  /** All that it has read. */
  read = "";

  /** @param {RawClient} client @param {object} [always] arguments of every call, which cost nothing */
  constructor(client, always = {}) {
    this.client = client;
    this.always = always;
  }

  /** The tokens of the tool list. */
  async listTokens() {
    /** @type {{ tools: { name: string, description?: string, inputSchema: object }[] }} */
    const { tools } = await this.client.request("tools/list");
    const visible = tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema,
    }));
    return JSON.stringify(visible).length / CHARS_PER_TOKEN;
  }

  /** Calls a tool; resolves with the text of its answer, also if that is an error. @param {string} tool @param {object} args */
  async try(tool, args) {
    const started = performance.now();
    const all = { ...this.always, ...args };
    const result = await this.client.request("tools/call", { name: tool, arguments: all });
    this.ms += performance.now() - started;
    /** @type {{ text?: string }[]} */
    const content = result.content ?? [];
    const text = content.map((block) => block.text ?? "").join("\n");
    this.calls += 1;
    this.chars += tool.length + JSON.stringify(args).length + text.length;
    this.read += `${text}\n`;
    if (ONLY)
      process.stderr.write(
        `> ${tool} ${JSON.stringify(args).slice(0, 300)}\n${text.slice(0, 1_500)}\n`,
      );
    return { text, failed: result.isError === true };
  }

  /** The same; rejects if the tool failed. @param {string} tool @param {object} args */
  async call(tool, args) {
    const { text, failed } = await this.try(tool, args);
    if (failed) throw new Error(`${tool}: ${text}`);
    return text;
  }

  /**
   * What a task costs.
   *
   * @param {string} label for the message if it fails
   * @param {() => boolean | Promise<boolean>} work solves the task, and resolves with whether the result is right
   * @returns {Promise<Cost>}
   */
  async cost(label, work) {
    this.calls = this.chars = this.ms = 0;
    this.read = "";
    let problem = "The result is wrong.";
    let done = false;
    try {
      done = await work();
    } catch (error) {
      problem = String(error);
    }
    const tokens = this.chars / CHARS_PER_TOKEN;
    if (tokens > MAX_TOKENS) return "–";
    if (done) return { calls: this.calls, tokens, ms: this.ms };
    process.stderr.write(`${label}: ${problem.slice(0, 500)}\n`);
    return "fails";
  }
}

/**
 * The costs of tasks by server; the last server is ours, which the totals compare with each of the others.
 *
 * @template {string} Who
 * @param {Record<Who, string>} labels
 * @param {Record<string, Partial<Record<Who, Cost>>>} costs by task and server; none: the server can't do it
 * @param {Partial<Record<Who, number>>} lists the tokens of their tool lists
 * @param {string[]} notes
 * @returns {import("./bench-kit.mjs").Table}
 */
export function dailyTable(labels, costs, lists, notes) {
  const all = /** @type {Who[]} */ (Object.keys(labels));
  const [ours] = all.slice(-1);
  const tasks = Object.values(costs);
  /** @param {Cost | undefined} cost */
  const isDone = (cost) => typeof cost === "object";
  /** @param {Cost} cost */
  const cells = (cost) =>
    typeof cost === "object" ? [cost.calls, cost.tokens, cost.ms].map(rounded) : [cost, cost, cost];
  /** What a server and ours cost for the tasks that both complete. @param {Who} peer */
  const total = (peer) => {
    const common = tasks.filter((task) => [task[peer], ours && task[ours]].every(isDone));
    const sums = all.map((who) => {
      const sum = { calls: 0, tokens: 0, ms: 0 };
      if (who !== ours && who !== peer) return ["", "", ""];
      for (const { [who]: cost } of common) {
        if (typeof cost !== "object") continue;
        sum.calls += cost.calls;
        sum.tokens += cost.tokens;
        sum.ms += cost.ms;
      }
      return cells(sum);
    });
    return [`**tasks that ${labels[peer]} and ours complete (${common.length})**`, ...sums.flat()];
  };
  return {
    title: `${tasks.length} tasks`,
    columns: ["", ...all.flatMap((who) => [`${labels[who]}: calls`, "tokens", "ms"])],
    rows: [
      ...Object.entries(costs).map(([name, by]) => [
        name,
        ...all.flatMap((who) => cells(by[who] ?? "–")),
      ]),
      ...all.slice(0, -1).map(total),
      [
        "**tasks completed**",
        ...all.flatMap((who) => [
          rounded(tasks.filter((task) => isDone(task[who])).length),
          "",
          "",
        ]),
      ],
      [
        "the tool list, once for each conversation",
        ...all.flatMap((who) => ["", rounded(lists[who] ?? 0), ""]),
      ],
    ],
    notes: [
      `Tokens are the characters of arguments and answers / ${CHARS_PER_TOKEN}; ms is the duration of its calls, once. "–": the server has no tool for it, or would need more than a million tokens. "fails": it tries, and the result on the disk or in the answer is wrong.`,
      ...notes,
    ],
  };
}

/** 1234.5 → "1,235". @param {number} value */
const rounded = (value) => Math.round(value).toLocaleString("en-US");
