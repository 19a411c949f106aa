import { createHash } from "node:crypto";
import { shortHash } from "../read/bytes.ts";

/** Content that is written piece by piece; its hash and size are known when it was. */
export class Streamed implements AsyncIterable<Uint8Array> {
  readonly #source: AsyncIterable<Uint8Array>;
  readonly #hash = createHash("sha256");
  #digest: string | undefined;
  length = 0;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for await (const bytes of this.#source) {
      this.#hash.update(bytes);
      this.length += bytes.length;
      yield bytes;
    }
  }

  get hash(): string {
    this.#digest ??= shortHash(this.#hash);
    return this.#digest;
  }
}
