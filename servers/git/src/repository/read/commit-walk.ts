import { existsSync } from "node:fs";
import { join } from "node:path";
import { remember } from "../open/refs-listing.ts";
import type { Repository } from "../open/repository.ts";
import { groups, textOf } from "../run/text.ts";

/** A commit, its fields as `git log` prints them. */
export interface Stored {
  readonly oid: string;
  readonly parents: readonly string[];
  /** When it was committed, in seconds: git's order. */
  readonly time: number;
  readonly author: string;
  readonly email: string;
  readonly date: string;
  readonly message: string;
}

/** How many commits are read at once: a commit with its first parents, and then the other parents of these with theirs. */
const AHEAD = [16, 2] as const;
/** From here on git itself is faster. */
const MAX_COMMITS = 300;
/** Commits that are remembered, of all repositories: they never change. */
const MAX_KNOWN = 2_000;
const MAX_MESSAGE = 10_000;

/**
 * Commits in the order of `git log`, without starting a process.
 *
 * @param shallow the commits whose parents are missing
 * @returns of each commit `%H %an %ae %aI %P %D %B`; undefined if one is damaged or unusual, so that only git can read it
 */
export async function walk(
  repository: Repository,
  tip: string,
  { skip, limit }: { readonly skip: number; readonly limit: number },
  shallow: ReadonlySet<string> | undefined,
): Promise<string[][] | undefined> {
  const end = skip + limit;
  const refsOf = end > MAX_COMMITS ? undefined : await decorations(repository, shallow);
  if (refsOf === undefined) return undefined;
  const { commits: known } = repository.machine;
  const key = (oid: string) => `${repository.location.commonDir} ${oid}`;
  /** Reads commits that are not known yet, each with some ancestors, because every request takes its time. */
  const read = async (oids: readonly string[], ahead: number): Promise<Stored[]> => {
    const wanted = oids.flatMap((oid) =>
      known.has(key(oid))
        ? []
        : Array.from({ length: ahead }, (_, at) => (at === 0 ? oid : `${oid}~${at}`)),
    );
    const found = wanted.length === 0 ? [] : ((await repository.objects(wanted)) ?? []);
    const commits = found.flatMap((one) =>
      one?.type === "commit" ? (parseCommit(one.oid, one.content) ?? []) : [],
    );
    for (const commit of commits) remember(known, key(commit.oid), commit, MAX_KNOWN);
    return commits;
  };
  const seen = new Set<string>();
  const waiting: Stored[] = [];
  const commits: Stored[] = [];
  let parents: readonly string[] = [tip];
  while (commits.length < end) {
    const left = end - commits.length;
    const line = await read(parents, Math.min(AHEAD[0], left));
    if (left > 1)
      await read(
        line.flatMap((commit) => commit.parents.slice(1)),
        AHEAD[1],
      );
    for (const oid of parents) {
      if (seen.has(oid)) continue;
      seen.add(oid);
      const commit = known.get(key(oid));
      if (commit === undefined) return undefined;
      // The newest first; of the same second, the one that was found first.
      const at = waiting.findIndex(({ time }) => time < commit.time);
      waiting.splice(at === -1 ? waiting.length : at, 0, commit);
    }
    const next = waiting.shift();
    if (next === undefined) break;
    parents = shallow?.has(next.oid) ? [] : next.parents;
    commits.push({ ...next, parents });
  }
  return commits.slice(skip).map(({ oid, author, email, date, parents, message }) => {
    return [oid, author, email, date, parents.join(" "), refsOf(oid), message];
  });
}

const HEADER =
  /^tree [0-9a-f]+\n((?:parent [0-9a-f]{40,64}\n)*)author (.*)\ncommitter (.*)(?:\n|$)/;
const IDENTITY = /^(|[^<>\s]|[^<>\s][^<>]*[^<>\s]) <([^<>\s]*)> (\d{1,12}) ([+-])(\d\d)(\d\d)$/;
/** A day before the year 10,000. */
const MAX_SECONDS = 253_402_200_000;

/** Reads a commit object; undefined if git would repair or convert something in it. */
function parseCommit(oid: string, content: Buffer | undefined): Stored | undefined {
  if (content === undefined || content.includes(0)) return undefined;
  const text = textOf(content);
  const end = text.indexOf("\n\n");
  const header = end === -1 ? text : text.slice(0, end + 1);
  const [, parents = "", ...people] = HEADER.exec(header) ?? [];
  const [author, committer] = people.map((person) => IDENTITY.exec(person));
  if (author === undefined || author === null || committer === undefined || committer === null)
    return undefined;
  const [, name = "", email = "", seconds, sign, hours, minutes] = author;
  const zone = Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes));
  const local = Number(seconds) + zone * 60;
  const message = end === -1 ? "" : text.slice(end + 2);
  if (
    message.length > MAX_MESSAGE ||
    local < 0 ||
    Number(seconds) > MAX_SECONDS ||
    /^encoding (?!utf-?8$)/im.test(header)
  )
    return undefined;
  return {
    oid,
    parents: parents.split("\n").flatMap((line) => line.slice("parent ".length) || []),
    time: Number(committer[3]),
    author: name,
    email,
    date: `${new Date(local * 1000).toISOString().slice(0, 19)}${zone < 0 ? "-" : "+"}${hours}:${minutes}`,
    message,
  };
}

const FIELDS = ["refname", "objectname", "*objectname", "*objecttype", "HEAD"];
const LIST = [
  `--format=${FIELDS.map((field) => `%(${field})%00`).join("")}`,
  ...["refs/heads/", "refs/remotes/", "refs/stash", "refs/tags/"],
];

type Names = ReadonlyMap<string, readonly string[]>;
/** By the listing that they were read from. */
const decorated = new WeakMap<Buffer, Names>();

/**
 * What `%D` prints of a commit, from one listing: git alone reads all refs for every log.
 *
 * @returns undefined if the configuration chooses other refs, or a file with grafts replaces parents
 */
export async function decorations(
  repository: Repository,
  shallow: ReadonlySet<string> | undefined,
): Promise<((oid: string) => string) | undefined> {
  const { config } = await repository.prepared();
  if (config.some(({ key }) => /^log\.(exclude|initial)decoration/.test(key))) return undefined;
  if (existsSync(join(repository.location.commonDir, "info", "grafts"))) return undefined;
  const output = await repository.refs(LIST, "list the refs");
  const names = decorated.get(output) ?? (await namesIn(repository, output));
  decorated.set(output, names);
  return (oid) => [...(shallow?.has(oid) ? ["grafted"] : []), ...(names.get(oid) ?? [])].join(", ");
}

async function namesIn(repository: Repository, output: Buffer): Promise<Names> {
  const refs = groups(output, FIELDS.length).map(
    ([name = "", oid = "", tagged = "", type, head]) => {
      const short = name.replace(/^refs\/(heads|remotes|tags)\//, "");
      const isTag = tagged !== "" || name.startsWith("refs/tags/");
      return {
        name,
        oid: tagged || oid,
        type,
        head: head === "*",
        shown: isTag ? `tag: ${short}` : short,
      };
    },
  );
  // Tags of tags.
  const nested = refs.filter(({ type }) => type === "tag");
  const found =
    nested.length === 0 ? [] : await repository.lookUp(nested.map(({ name }) => `${name}^{}`));
  for (const [index, ref] of nested.entries()) ref.oid = found[index]?.oid ?? ref.oid;
  const current = refs.find(({ head }) => head);
  const head = current?.oid ?? (await repository.head());
  const names = new Map<string, string[]>();
  const add = (oid: string, name: string) => names.set(oid, [...(names.get(oid) ?? []), name]);
  // git's order: HEAD, then by name, descending.
  if (head !== undefined) add(head, current === undefined ? "HEAD" : `HEAD -> ${current.shown}`);
  for (const ref of refs.reverse()) if (ref !== current) add(ref.oid, ref.shown);
  return names;
}
