import { oneLine, ToolError } from "@refmcp/boundary/answer";
import type { Named } from "./repository.ts";

/** Where git searches for a short name, in this order (gitrevisions(7)). Without a warning that is read, the first wins. */
const PLACES = ["refs/", "refs/tags/", "refs/heads/", "refs/remotes/"];
/** Names that are never looked up anywhere else, or where that changes nothing: git's own and full ones. */
const EXACT = /^(HEAD|@|[A-Z_]+_HEAD|refs\/.*)$/s;

/**
 * Refuses a name of two things, such as a branch and a tag: git would choose the tag, whatever is meant.
 *
 * @param stderr git's warnings about the names
 * @param look looks up names without a search
 * @throws ToolError `ambiguous_name`
 */
export async function refuseAmbiguous(
  stderr: string,
  look: (names: readonly string[]) => Promise<(Named | undefined)[]>,
): Promise<void> {
  for (const [, name = ""] of stderr.matchAll(/^warning: refname '(.*)' is ambiguous\.$/gm)) {
    if (EXACT.test(name)) continue;
    const places = [...PLACES.map((place) => place + name), `refs/remotes/${name}/HEAD`];
    const [chosen, ...found] = await look([name, ...places].map((one) => `${one}^{}`));
    const refs = places.flatMap((ref, index) => {
      const oid = found[index]?.oid;
      return oid === undefined ? [] : [{ ref, oid }];
    });
    const isInRefs = refs.some(({ oid }) => oid === chosen?.oid);
    const isAlsoId = refs.length === 1 && isInRefs && /^[0-9a-f]{4,64}$/.test(name);
    if (isInRefs && !isAlsoId && refs.every(({ oid }) => oid === chosen?.oid)) continue;
    const meanings = [
      ...refs.map(({ ref, oid }) => `${oneLine(ref)} (${oid.slice(0, 10)})`),
      ...(isAlsoId ? ["an object whose id begins with it"] : []),
      ...(isInRefs ? [] : [`a file in the git directory (${chosen?.oid.slice(0, 10) ?? "not an object"})`]),
    ];
    const example = refs.find(({ ref }) => ref.startsWith("refs/heads/"))?.ref ?? refs[0]?.ref;
    throw new ToolError("invalid", `"${oneLine(name)}" is ambiguous: ${meanings.join(" or ")}.`, {
      code: "ambiguous_name",
      hint: `Pass a full name, such as ${oneLine(example ?? `refs/heads/${name}`)}, or a full commit id.`,
    });
  }
}
