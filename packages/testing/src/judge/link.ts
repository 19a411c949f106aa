import type { Findings } from "./finding.ts";

export type Json = Readonly<Record<string, unknown>>;
export type Id = string | number;

/** What came back for one request. */
export interface Reply {
  /** The response, or nothing: see `missing`. */
  readonly message: Json | undefined;
  readonly missing?: "timeout" | "closed" | "too large" | "not JSON-RPC";
  readonly bytes: number;
  readonly ms: number;
  /** Over HTTP. */
  readonly status?: number;
}

/** A connection to a server, which shows the bytes. */
export interface Link {
  /** Sends a message as text and waits for the response with this id. */
  ask(id: Id, text: string, timeoutMs: number): Promise<Reply>;
  /** Sends a message as text without waiting for a response; what comes is in `strays`. */
  tell(text: string | Uint8Array): Promise<void>;
  /** Responses that answer no request: with an unknown id, null or none. */
  readonly strays: readonly Json[];
  /** Whether the server can still answer. */
  readonly isOpen: boolean;
  close(): Promise<void>;
}

/** The longest message that is read. */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

export function objectOf(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** What is wrong with a message as JSON-RPC, or nothing. */
export function envelopeProblem(message: unknown): string | undefined {
  if (Array.isArray(message))
    return "The message is a batch, which revisions since 2025-06-18 do not have.";
  if (typeof message !== "object" || message === null) return "The message is not an object.";
  const { jsonrpc, id, method, result, error } = objectOf(message);
  if (jsonrpc !== "2.0") return '"jsonrpc" is not "2.0".';
  if (id !== undefined && id !== null && typeof id !== "string" && typeof id !== "number")
    return "The id is neither a string nor a number.";
  if (typeof method === "string") return id === null ? "The request's id is null." : undefined;
  if (result === undefined && error === undefined)
    return "The message has no method, result or error.";
  if (result !== undefined && error !== undefined)
    return "The message has both a result and an error.";
  if (
    result !== undefined &&
    (typeof result !== "object" || result === null || Array.isArray(result))
  )
    return "The result is not an object.";
  if (error === undefined) return undefined;
  const { code, message: words } = objectOf(error);
  if (!Number.isInteger(code)) return "The error's code is not an integer.";
  return typeof words === "string" ? undefined : "The error's message is not a string.";
}

/** What both transports do with messages: match responses, answer the server's requests, note what is wrong. */
export class Inbox {
  readonly strays: Json[] = [];
  readonly #waiting = new Map<Id, (message: Json, bytes: number) => void>();
  readonly #findings: Findings;
  readonly #era: string;

  constructor(findings: Findings, era: string) {
    this.#findings = findings;
    this.#era = era;
  }

  wait(id: Id, take: (message: Json, bytes: number) => void): () => void {
    this.#waiting.set(id, take);
    return () => void this.#waiting.delete(id);
  }

  /** @returns the response to a request of the server, if it is one. */
  take(message: unknown, bytes: number): string | undefined {
    const problem = envelopeProblem(message);
    if (problem !== undefined)
      this.#findings.add("rpc-envelope", this.#era, "", `${problem} ${preview(message)}`);
    const { id, method } = objectOf(message);
    if (typeof method === "string") return id === undefined ? undefined : this.#answer(id, method);
    const isId = typeof id === "string" || typeof id === "number";
    const waiting = isId ? this.#waiting.get(id) : undefined;
    if (waiting !== undefined) waiting(objectOf(message), bytes);
    else if (this.strays.length < 50) this.strays.push(objectOf(message));
    return undefined;
  }

  /** This client declares no capabilities, so it only answers pings. */
  #answer(id: unknown, method: string): string {
    if (this.#era === "2026-07-28")
      this.#findings.add("modern-requests", method, "", `The server sent a request, ${method}.`);
    const outcome =
      method === "ping"
        ? { result: {} }
        : { error: { code: -32601, message: `This client has no ${method}.` } };
    return JSON.stringify({ jsonrpc: "2.0", id, ...outcome });
  }
}

function preview(message: unknown): string {
  const text = JSON.stringify(message) ?? "";
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}

/** The value, or nothing after a time limit. */
export async function within<Value>(ms: number, value: Promise<Value>): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([value, limit]);
  } finally {
    clearTimeout(timer);
  }
}
