import type { Connection, Submittable } from "pg";
import { serialize } from "pg-protocol";

/** Serialized messages: nearly every call begins with the same statements. */
const written = new Map<string, Buffer>();
const MAX_WRITTEN = 100;

/**
 * Our own statements, without parameters, as messages of the extended protocol. There is no Sync between them, so the
 * server skips everything after a failure: a statement that follows runs in their transaction or not at all.
 */
export function messagesOf(statements: readonly string[]): Buffer {
  const key = statements.join(";");
  let messages = written.get(key);
  if (messages === undefined) {
    messages = Buffer.concat(
      statements.flatMap((text) => [serialize.parse({ text }), serialize.bind(), serialize.execute()]),
    );
    if (written.size >= MAX_WRITTEN) written.clear();
    written.set(key, messages);
  }
  return messages;
}

/** Runs our own statements in one round trip and ignores rows. */
export class Statements implements Submittable {
  readonly done: Promise<void>;
  readonly #statements: readonly string[];
  #settle: { resolve(): void; reject(error: unknown): void } = {
    resolve: () => undefined,
    reject: () => undefined,
  };

  constructor(statements: readonly string[]) {
    this.#statements = statements;
    this.done = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
  }

  submit(connection: Connection): void {
    connection.stream.write(Buffer.concat([messagesOf(this.#statements), serialize.sync()]));
  }

  handleError(error: unknown): void {
    this.#settle.reject(error);
  }

  handleReadyForQuery(): void {
    this.#settle.resolve();
  }

  handleCommandComplete(): void {}
  handleDataRow(): void {}
}
