import type { Repository } from "../open/repository.ts";
import { checked, type Named, objectOf, refuseAmbiguous } from "../open/revisions.ts";
import { failureOf } from "../run/errors.ts";

/** The empty tree, to compare a root commit with. git knows it even if the repository lacks it. */
export function emptyTree(oid: string): string {
  return oid.length === 64
    ? "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
    : "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
}

export interface SizedObject extends Named {
  readonly size: number;
}

/** Takes the content of an object in parts; returns false to stop. */
type TakeContent = (chunk: Buffer) => boolean;

/**
 * Finds out what a revision names, and reads its content, in one process. The name is passed on stdin.
 *
 * @param begin returns what takes the content of this object; undefined to leave it
 * @throws ToolError `bad_revision`, `ambiguous_name`, `missing_object`
 */
export async function readObject(
  repository: Repository,
  revision: string,
  begin: (object: SizedObject) => TakeContent | undefined,
): Promise<SizedObject> {
  const stream = new ObjectStream(begin);
  const result = await repository.run(["cat-file", "--batch"], {
    input: `${checked(revision)}\n`,
    onStdout: (chunk) => stream.take(chunk),
    maxBytes: Number.MAX_SAFE_INTEGER,
  });
  await refuseAmbiguous(repository, result.stderr);
  if (stream.object !== undefined) {
    if (result.code === 0 || result.cut) return stream.object;
    throw failureOf(result, "read the object");
  }
  await objectOf(repository, revision);
  throw failureOf(result, "read the object");
}

/** Reads `oid type size LF content LF`, as `git cat-file --batch` prints it. */
class ObjectStream {
  readonly #begin: (object: SizedObject) => TakeContent | undefined;
  #head = Buffer.alloc(0);
  #takeContent: TakeContent | undefined;
  #left = 0;
  object: SizedObject | undefined;

  constructor(begin: (object: SizedObject) => TakeContent | undefined) {
    this.#begin = begin;
  }

  take(chunk: Buffer): boolean {
    if (this.object !== undefined) return this.#pass(chunk);
    this.#head = Buffer.concat([this.#head, chunk]);
    const end = this.#head.indexOf(10);
    if (end === -1) return true;
    const line = this.#head.toString("utf8", 0, end);
    const [, oid, type, size] = /^([0-9a-f]{40,64}) (\w+) (\d+)$/.exec(line) ?? [];
    if (oid === undefined || type === undefined) return false;
    this.object = { oid, type, size: Number(size) };
    this.#left = this.object.size;
    this.#takeContent = this.#begin(this.object);
    return this.#pass(this.#head.subarray(end + 1));
  }

  #pass(chunk: Buffer): boolean {
    const part = chunk.subarray(0, this.#left);
    this.#left -= part.length;
    return this.#takeContent?.(part) ?? false;
  }
}
