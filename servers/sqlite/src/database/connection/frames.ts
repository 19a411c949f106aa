import { DefaultSerializer, deserialize } from "node:v8";
import type { Jobs } from "./execute.ts";
import type { Failure } from "./failures.ts";

export type Op = keyof Jobs;

export interface Message<Job = object> {
  readonly op: Op;
  readonly job: Job;
}

/** A frame for a runner: jobs that it runs in order. Without jobs, it closes the files that it has kept open. */
export interface Work<Job = object> {
  readonly frame: number;
  readonly messages: readonly Message<Job>[];
}

/** A frame from a runner: the replies to consecutive jobs of a frame. */
export interface Answers<Value = unknown> {
  /** The position of the first of them. */
  readonly first: number;
  readonly replies: readonly Reply<Value>[];
  /** Whether the runner waits for the next frame. Jobs without a reply did not run. */
  readonly isEnd: boolean;
}

export type Reply<Value> =
  /** SQLite could not be loaded; the cause is for the log. */
  | { readonly unavailable: { message: string; hint: string | undefined; cause: string } }
  | { readonly failed: Failure }
  | { readonly answer: Value };

/** The file descriptor of the pipe in a runner: not stdout, to which a library could write. */
export const PIPE = 3;
export const MAX_JOBS = 63;
export const MAX_FRAMES = 2 ** 25;

/** The number of a running job: its frame, which is less than `MAX_FRAMES`, and its position. */
export const workId = (frame: number, at: number): number => (frame << 6) + at + 1;

/** The length of what follows, in bytes, little-endian. */
const HEADER = 4;
const NO_LENGTH = Buffer.alloc(HEADER);

/** A value as a frame: its length, and its structured clone in V8's format; as JSON, which is faster, if it is small. */
export function frameOf(value: unknown): Buffer {
  if (isSmall(value)) {
    const text = JSON.stringify(value);
    const length = Buffer.byteLength(text);
    const small = Buffer.allocUnsafe(HEADER + length);
    small.writeUInt32LE(length);
    small.write(text, HEADER);
    return small;
  }
  const serializer = new DefaultSerializer();
  serializer.writeRawBytes(NO_LENGTH);
  serializer.writeHeader();
  serializer.writeValue(value);
  const frame = serializer.releaseBuffer();
  frame.writeUInt32LE(frame.length - HEADER);
  return frame;
}

/** Long texts are copied in V8's format, and escaped in JSON. */
const SMALL_TEXT = 4_096;
const CURLY = 0x7b;

/** Whether JSON has the same value, and no text is long. */
function isSmall(value: unknown): boolean {
  if (typeof value === "string") return value.length <= SMALL_TEXT;
  if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== "object" || value === null) return typeof value !== "bigint";
  if (Array.isArray(value)) return value.every((item) => item !== undefined && isSmall(item));
  return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(isSmall);
}

/** Reads frames from a stream of bytes. A chunk must not be changed after it was added. */
export class FrameReader<Value> {
  #chunks: Buffer[] = [];
  #length = 0;
  #needed = HEADER;

  /** The values of the frames that this chunk completes. */
  add(chunk: Buffer): Value[] {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    const values: Value[] = [];
    while (this.#length >= this.#needed) {
      const [first = chunk] = this.#chunks;
      const bytes = this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
      if (this.#needed === HEADER) {
        this.#chunks = [bytes];
        this.#needed += bytes.readUInt32LE();
        continue;
      }
      // V8's format begins with 0xff.
      const isJson = bytes[HEADER] === CURLY;
      const body = bytes.subarray(HEADER, this.#needed);
      values.push(isJson ? JSON.parse(body.toString()) : deserialize(body));
      const rest = bytes.subarray(this.#needed);
      this.#chunks = rest.length === 0 ? [] : [rest];
      this.#length = rest.length;
      this.#needed = HEADER;
    }
    return values;
  }
}
