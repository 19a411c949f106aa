import { clip, oneLine } from "@refmcp/boundary/answer";
import type { Repository } from "../open/repository.ts";
import { failure } from "../run/errors.ts";
import { textOf } from "../run/text.ts";
import { signing } from "./hooks.ts";

/** What a commit object contains. Its texts are Latin-1, so that the bytes of every encoding are kept. */
export interface RawCommit {
  readonly tree: string;
  readonly parent: string | undefined;
  /** A second parent. */
  readonly merged?: string | undefined;
  /** Name, e-mail and date. */
  readonly author: string;
  readonly encoding: string | undefined;
  readonly message: string;
}

export interface ReadCommit extends RawCommit {
  readonly oid: string;
  readonly isSigned: boolean;
}

/**
 * Reads commits, in one process. Of a merge only the first parent is in the result.
 *
 * @throws ToolError `missing_object`, for example beyond the end of a shallow history
 */
export async function readCommits(
  repository: Repository,
  oids: readonly string[],
): Promise<Map<string, ReadCommit>> {
  const objects = await repository.contents(oids);
  const found = new Map<string, ReadCommit>();
  for (const oid of oids) {
    const text = objects.get(oid)?.toString("latin1");
    const gone = `The commit ${oid.slice(0, 10)} is missing: the history is shallow or damaged.`;
    if (text === undefined) throw failure("missing_object", gone);
    const end = text.indexOf("\n\n");
    const headers = text.slice(0, end).split("\n");
    const value = (name: string) =>
      headers.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1);
    found.set(oid, {
      oid,
      tree: value("tree") ?? "",
      parent: value("parent"),
      author: value("author") ?? "",
      encoding: value("encoding"),
      message: text.slice(end + 2),
      isSigned: headers.some((line) => line.startsWith("gpgsig")),
    });
  }
  return found;
}

/** Text as the Latin-1 of its UTF-8. */
export const bytesOf = (text: string): string => Buffer.from(text).toString("latin1");

/** The same commit in UTF-8, to which other text can be added. */
export function inUtf8<Commit extends RawCommit>(commit: Commit): Commit {
  const { encoding } = commit;
  if (encoding === undefined) return commit;
  const decode = (text: string) => bytesOf(decoderOf(encoding).decode(Buffer.from(text, "latin1")));
  return {
    ...commit,
    encoding: undefined,
    author: decode(commit.author),
    message: decode(commit.message),
  };
}

/** The first line of a message. */
export function subjectOf(commit: RawCommit): string {
  const text = textOf(Buffer.from(inUtf8(commit).message, "latin1"));
  return oneLine(clip(text.trimStart().split("\n", 1)[0] ?? "", 100));
}

function decoderOf(encoding: string) {
  try {
    return new TextDecoder(encoding);
  } catch {
    // An encoding that Node.js does not know.
    return new TextDecoder("latin1");
  }
}

/**
 * For commits that only git sees, on the way to a result. Their date is late, because git searches merge bases from the
 * newest commit on: after an old one it would walk the whole history.
 */
export const NOBODY = {
  author: "refmcp <refmcp@localhost> 4000000000 +0000",
  encoding: undefined,
  message: "",
};

/** Writes a commit object unchanged, and returns its id. */
export async function writeRaw(
  repository: Repository,
  { tree, parent, merged, author, encoding, message }: RawCommit,
  committer: string = NOBODY.author,
): Promise<string> {
  const headers = [
    `tree ${tree}`,
    ...[parent, merged].flatMap((oid) => (oid === undefined ? [] : [`parent ${oid}`])),
    `author ${author}`,
    `committer ${committer}`,
    ...(encoding === undefined ? [] : [`encoding ${encoding}`]),
  ];
  const input = Buffer.from(`${headers.join("\n")}\n\n${message}`, "latin1");
  const args = ["hash-object", "-t", "commit", "-w", "--stdin"];
  return repository.value(args, "write a commit", { input });
}

/**
 * Returns what writes commits as the user: all with the same time, signed if the user's own configuration says so.
 *
 * @throws ToolError `identity_missing`
 */
export async function commitWriter(repository: Repository) {
  const ident = await repository.output(["var", "GIT_COMMITTER_IDENT"], "read the user's identity");
  const committer = ident.toString("latin1").trim();
  const { option, options } = await signing(repository);
  const signs = option === "--gpg-sign";
  const write = async (commit: RawCommit): Promise<string> => {
    if (!signs) return writeRaw(repository, commit, committer);
    const { tree, parent, author, message } = inUtf8(commit);
    const text = Buffer.from(author, "latin1").toString("utf8");
    const [, name = "", email = "", date = ""] = /^(.*) <(.*)> (\d+ [+-]\d+)$/.exec(text) ?? [];
    const env = {
      ...options.env,
      GIT_AUTHOR_NAME: name,
      GIT_AUTHOR_EMAIL: email,
      GIT_AUTHOR_DATE: `@${date}`,
    };
    const args = ["commit-tree", option, ...(parent === undefined ? [] : ["-p", parent]), tree];
    const input = Buffer.from(message, "latin1");
    return repository.value(args, "sign a commit", { ...options, env, input });
  };
  return { signs, write };
}
