import { counted, grouped, ToolError } from "@refmcp/boundary/answer";
import type { Web } from "../download/web.ts";
import type { Page, Snapshot, View } from "../read/snapshot.ts";

/** Further pages are left out of a longer text. */
const MAX_CHARS = 5_000_000;

interface Joining {
  readonly view: View;
  /** How many pages at most, with the first. */
  readonly pages: number;
  readonly maxAgeMs?: number;
  readonly signal: AbortSignal;
}

/**
 * A page and those that follow it as one text. It ends where no page follows, at a page that was already read or cannot be
 * fetched, and says which; each page passes the guard and robots.txt as if it were requested alone.
 *
 * @throws ToolError `invalid` for a view of a part of a page; the signal's reason.
 */
export async function joinedPages(
  web: Web,
  snapshot: Snapshot,
  first: Page,
  { view, pages, maxAgeMs, signal }: Joining,
): Promise<Page> {
  if (view.section !== undefined || /^(?:html|json)$/.test(view.format)) {
    const what = view.section === undefined ? `format ${view.format}` : "section";
    throw new ToolError("invalid", `pages does not work with ${what}.`, {
      hint: "Omit one of them.",
    });
  }
  const read = new Set([
    snapshot.answer.url.href,
    ...snapshot.answer.redirects.map(({ href }) => href),
  ]);
  const texts = new Set([first.text]);
  const notes: string[] = [];
  let { text } = first;
  let last = first;
  let count = 1;
  /** Adds a page; returns why it can't. */
  const add = async (next: string): Promise<string | undefined> => {
    if (read.has(next)) return `the next page after page ${count} is one of these pages`;
    read.add(next);
    const following = await web.get(next, {
      signal,
      ...(maxAgeMs === undefined ? {} : { maxAgeMs }),
    });
    const { href } = following.answer.url;
    if (href !== next && read.has(href)) return `${shown(next)} redirects to one of these pages`;
    read.add(href);
    const page = await following.page({ ...view, fragment: undefined }, signal);
    if (texts.has(page.text)) return `${shown(href)} has the same text as an earlier page`;
    if (text.length + page.text.length > MAX_CHARS)
      return `${shown(href)} was left out: the text would have more than ${grouped(MAX_CHARS)} characters`;
    texts.add(page.text);
    count += 1;
    notes.push(`page ${count} from index ${text.length + 2}: ${shown(href)}`);
    text += `\n\n${withoutRepeated(page.text, first.text)}`;
    last = page;
    return undefined;
  };
  let end: string | undefined;
  while (count < pages && last.next !== undefined && end === undefined)
    end = await add(last.next).catch((error: unknown) => {
      if (!(error instanceof ToolError) || signal.aborted) throw error;
      return `page ${count + 1} could not be fetched: ${error.message}`;
    });
  if (end === undefined && last.next !== undefined) {
    const { following } = last;
    const rest =
      following === undefined ? "more pages follow" : `at least ${counted(following, "more page")}`;
    end = `${rest}, the next is ${shown(last.next)}`;
  }
  const joined = `${counted(count, "page")} joined`;
  const more = end ?? "no page follows";
  return {
    ...first,
    following: undefined,
    text,
    notes: [...(first.notes ?? []), joined, ...notes, more],
  };
}

const shown = (href: string): string => href.slice(0, 500);

/** A page without the blocks that it has in common with the first at its beginning and its end: the thread's title, a notice. */
function withoutRepeated(text: string, first: string): string {
  const blocks = text.split("\n\n");
  const others = first.split("\n\n");
  let start = 0;
  while (start < blocks.length - 1 && blocks[start] === others[start]) start += 1;
  let end = 0;
  while (end < blocks.length - 1 - start && blocks.at(-1 - end) === others.at(-1 - end)) end += 1;
  return blocks.slice(start, blocks.length - end).join("\n\n");
}
