import {
  type BigIntStats,
  closeSync,
  constants,
  createReadStream,
  fstatSync,
  open,
  openSync,
  type ReadStream,
  read,
  readFile,
  readSync,
} from "node:fs";
import { promisify } from "node:util";
import { errorCode } from "./system-error.ts";

/** Operations on a file opened for reading: the methods of `FileHandle` that `SmallFile` also has. */
export interface ReadHandle {
  /** -1 once it is closed. */
  readonly fd: number;
  read(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number }>;
  readFile(): Promise<Buffer>;
  readFile(encoding: "utf8"): Promise<string>;
  stat(options: { bigint: true }): Promise<BigIntStats>;
  createReadStream(options: { start: number; autoClose: false }): ReadStream;
  close(): Promise<void>;
}

/** Files up to this size are read synchronously, in about 10 µs; each use of the thread pool costs 15 to 20. */
export const SMALL_BYTES = 64 * 1024;

const readLater = promisify(read);
const readWhole = promisify(readFile);

/**
 * A small regular file on a local file system, opened and read without the thread pool. Never use it for anything else:
 * a FIFO, a device or a file server would block all other calls until it responds. A sleeping disk blocks them too,
 * which is acceptable because at most `SMALL_BYTES` are read.
 */
export class SmallFile implements ReadHandle {
  #fd: number;

  private constructor(fd: number) {
    this.#fd = fd;
  }

  /** Undefined if opening would block: for another program's lease, fcntl(2). */
  static open(path: string): SmallFile | undefined {
    try {
      return new SmallFile(openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
    } catch (error) {
      if (errorCode(error) === "EAGAIN") return undefined;
      throw error;
    }
  }

  get fd(): number {
    return this.#fd;
  }

  /** The file may have grown since it was opened, hence the comparison. */
  async read(buffer: Uint8Array, offset: number, length: number, position: number) {
    return position + length > SMALL_BYTES
      ? readLater(this.#fd, buffer, offset, length, position)
      : { bytesRead: readSync(this.#fd, buffer, offset, length, position) };
  }

  readFile(): Promise<Buffer>;
  readFile(encoding: "utf8"): Promise<string>;
  readFile(encoding?: "utf8"): Promise<Buffer | string> {
    return readWhole(this.#fd, encoding);
  }

  async stat(options: { bigint: true }): Promise<BigIntStats> {
    return fstatSync(this.#fd, options);
  }

  createReadStream(options: { start: number; autoClose: false }): ReadStream {
    // A destroyed stream closes its descriptor anyway; when we close it, the number may refer to another file.
    const fs = { open, read, close: (_fd: number, done: () => void) => done() };
    return createReadStream("", { ...options, fd: this.#fd, fs });
  }

  async close(): Promise<void> {
    const fd = this.#fd;
    this.#fd = -1;
    if (fd !== -1) closeSync(fd);
  }
}
