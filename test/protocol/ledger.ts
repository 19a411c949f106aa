import { type Exchange, keyOf, uriKey } from "./exchange.ts";
import { validateServerMessage } from "./messages.ts";
import { type Fields, fieldsAt, isFields, MODERN, type Revision } from "./revisions.ts";
import { ToolBook } from "./tool-book.ts";

const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
const LOG_LEVEL = "io.modelcontextprotocol/logLevel";
const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";

/** The client's capability without which a server does not ask a question. */
const NEEDS: Readonly<Record<string, string>> = {
  "roots/list": "roots",
  "sampling/createMessage": "sampling",
  "elicitation/create": "elicitation",
};

/** The member of a `subscriptions/listen` filter that lets a notification through. */
const FILTERS: Readonly<Record<string, string>> = {
  "notifications/tools/list_changed": "toolsListChanged",
  "notifications/prompts/list_changed": "promptsListChanged",
  "notifications/resources/list_changed": "resourcesListChanged",
  "notifications/resources/updated": "resourceSubscriptions",
};

/**
 * Records both sides of a conversation and checks every message of the server: against the official schema of the revision, and
 * against its rules that depend on earlier messages.
 */
export class Ledger {
  /** The problems, in the order of the lines. */
  readonly problems: string[] = [];
  readonly #revision: Revision;
  /** By id: a number and a string are different ids. */
  readonly #exchanges = new Map<string, Exchange>();
  readonly #tools = new ToolBook();
  readonly #watched = new Set<string>();
  #capabilities: Fields = {};
  #level = 0;

  constructor(revision: Revision) {
    this.#revision = revision;
  }

  /** The client sends a request. */
  asked(message: Fields): void {
    const { id, method } = message;
    const params = fieldsAt(message, "params");
    const key = keyOf(id);
    const earlier = this.#exchanges.get(key);
    if (earlier !== undefined && earlier.due > 0) earlier.due += 1;
    else
      this.#exchanges.set(key, { id, method: String(method), params, due: 1, progress: -Infinity });
    if (method === "initialize") this.#capabilities = fieldsAt(params, "capabilities");
    if (method === "resources/subscribe") this.#watched.add(uriKey(params.uri));
    if (method === "logging/setLevel") this.#level = LEVELS.indexOf(String(params.level));
  }

  /** The client cancels a request: the server may no longer send anything about it. */
  cancelled(id: unknown): void {
    const exchange = this.#exchanges.get(keyOf(id));
    if (exchange !== undefined) exchange.due = 0;
  }

  /** The server wrote a line, which is this JSON value. */
  received(value: unknown): void {
    if (!Array.isArray(value)) {
      this.#message(value);
      return;
    }
    if (this.#revision !== "2025-03-26") this.#report("a batch, which only 2025-03-26 has", value);
    if (value.length === 0) this.#report("an empty batch", value);
    for (const entry of value) {
      if (isFields(entry) && "method" in entry)
        this.#report("a batch of other things than answers", value);
      this.#message(entry);
    }
  }

  /** The requests without an answer so far. */
  get unanswered(): string[] {
    const open = [...this.#exchanges.values()].filter(
      ({ due, method }) => due > 0 && method !== "subscriptions/listen",
    );
    return open.map(
      ({ method, id }) => `${method} with the id ${JSON.stringify(id)?.slice(0, 80)}`,
    );
  }

  #report(what: string, message: unknown): void {
    const text = JSON.stringify(message);
    this.problems.push(`${what} in ${text.length > 600 ? `${text.slice(0, 600)}…` : text}`);
  }

  #message(message: unknown): void {
    const fields = fieldsAt(message);
    const isAnswer = !("method" in fields);
    const hasId = fields.id !== undefined && fields.id !== null;
    const exchange = isAnswer && hasId ? this.#exchanges.get(keyOf(fields.id)) : undefined;
    // A probe belongs to the modern era, even if the client uses another afterwards.
    const revision = exchange?.method === "server/discover" ? MODERN : this.#revision;
    const problems = validateServerMessage(revision, message, exchange?.method);
    if (!isAnswer)
      problems.push(...("id" in fields ? this.#question(fields) : this.#notification(fields)));
    else if (hasId && (exchange === undefined || exchange.due === 0))
      problems.push("nobody waits for this answer");
    else if (exchange !== undefined) problems.push(...this.#answer(exchange, fields));
    for (const problem of problems) this.#report(problem, message);
  }

  #answer(exchange: Exchange, message: Fields): string[] {
    exchange.due -= 1;
    const { method, params } = exchange;
    if ("error" in message) return [];
    const result = fieldsAt(message, "result");
    if (method === "resources/unsubscribe") this.#watched.delete(uriKey(params.uri));
    if (method === "tools/list") return this.#tools.list(result);
    // MCP 2025-11-25, "Tasks": only a client that asks for a task gets one.
    if (method === "tools/call" && "task" in result)
      return "task" in fieldsAt(params) ? [] : ["a task that the client did not ask for"];
    if (result.resultType === "input_required") {
      const declared = fieldsAt(params, "_meta", CAPABILITIES);
      return Object.values(fieldsAt(result, "inputRequests")).flatMap((question) =>
        undeclared(question, declared),
      );
    }
    return method === "tools/call" ? this.#tools.call(this.#revision, params.name, result) : [];
  }

  #question(message: Fields): string[] {
    return undeclared(message, this.#capabilities);
  }

  #notification(message: Fields): string[] {
    const params = fieldsAt(message, "params");
    switch (message.method) {
      case "notifications/progress":
        return this.#progress(params);
      case "notifications/message":
        return this.#log(params);
      case "notifications/cancelled":
        return this.#revision === MODERN && !this.#listens(params.requestId)
          ? ["it names no subscription"]
          : [];
      case "notifications/subscriptions/acknowledged":
        return this.#acknowledge(params);
      case "notifications/resources/updated":
        if (this.#revision === MODERN) return this.#subscribed(message);
        return this.#watched.has(uriKey(params.uri))
          ? []
          : [`nobody subscribed to ${String(params.uri)}`];
      default:
        return this.#revision === MODERN ? this.#subscribed(message) : [];
    }
  }

  #progress(params: Fields): string[] {
    const token = keyOf(params.progressToken);
    for (const exchange of this.#exchanges.values()) {
      if (exchange.due === 0 || keyOf(fieldsAt(exchange.params, "_meta").progressToken) !== token)
        continue;
      const advanced = typeof params.progress === "number" && params.progress > exchange.progress;
      if (advanced) exchange.progress = Number(params.progress);
      return advanced ? [] : ["progress must increase"];
    }
    return ["no request in flight has this progress token"];
  }

  #log(params: Fields): string[] {
    const level = LEVELS.indexOf(String(params.level));
    if (this.#revision !== MODERN)
      return level < this.#level ? ["it is below the level that was set"] : [];
    const wanted = [...this.#exchanges.values()].some(({ due, params: { _meta: meta } }) => {
      const least = isFields(meta) ? meta[LOG_LEVEL] : undefined;
      return due > 0 && typeof least === "string" && LEVELS.indexOf(least) <= level;
    });
    return wanted ? [] : ["no request in flight asked for this level"];
  }

  #listens(id: unknown): Exchange | undefined {
    const exchange = this.#exchanges.get(keyOf(id));
    return exchange?.method === "subscriptions/listen" && exchange.due > 0 ? exchange : undefined;
  }

  #acknowledge(params: Fields): string[] {
    const listening = this.#listens(fieldsAt(params, "_meta")[SUBSCRIPTION]);
    if (listening === undefined) return ["it names no open subscription"];
    if (listening.filter !== undefined) return ["the subscription was acknowledged before"];
    listening.filter = fieldsAt(params, "notifications");
    return [];
  }

  #subscribed(message: Fields): string[] {
    const params = fieldsAt(message, "params");
    const listening = this.#listens(fieldsAt(params, "_meta")[SUBSCRIPTION]);
    if (listening === undefined) return ["it names no open subscription"];
    if (listening.filter === undefined) return ["the subscription is not acknowledged yet"];
    const granted = listening.filter[FILTERS[String(message.method)] ?? ""];
    const covers = Array.isArray(granted)
      ? granted.some((uri) => uriKey(uri) === uriKey(params.uri))
      : granted === true;
    return covers ? [] : ["the subscription does not cover it"];
  }
}

/** A server must not request what the client has not declared. */
function undeclared(question: unknown, capabilities: Fields): string[] {
  const { method } = fieldsAt(question);
  const params = fieldsAt(question, "params");
  const capability = NEEDS[String(method)];
  if (capability === undefined) return [];
  const needed = [capability];
  if (capability === "elicitation" && params.mode === "url") needed.push("url");
  if (capability === "sampling" && ("tools" in params || "toolChoice" in params))
    needed.push("tools");
  return isFields(
    fieldsAt({ capabilities }, "capabilities", ...needed.slice(0, -1))[needed.at(-1) ?? ""],
  )
    ? []
    : [`the client has not declared ${needed.join(".")}`];
}
