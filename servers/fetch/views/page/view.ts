// Shows a fetched page for reading: its text piece by piece, and links that the host opens. The text is untrusted, so
// it becomes paragraphs and headings, never markup.
import "../../../../packages/core/views/view.css";
import "../../../../packages/core/views/sheet.css";
import { button, plain } from "../../../../packages/core/views/controls.ts";
import { element, Host, type ToolResult, textOf } from "../../../../packages/core/views/host.ts";
import { blocksOf } from "../../../../packages/core/views/markdown.ts";
import "./view.css";

/** A piece of a page: its URL, facts about it, its text, and where the next piece begins. */
interface Piece {
  readonly address: string;
  readonly about: readonly string[];
  readonly text: string;
  readonly foot: string;
  readonly next: number | undefined;
}

const host = new Host();
let given: Record<string, unknown> = {};

/**
 * Parses an answer: the text is one block, the server's line about it the next; undefined if the answer is not text.
 */
function pieceOf({ content = [] }: ToolResult): Piece | undefined {
  const [text = "", foot] = content.map((block) => block.text ?? "");
  const head = /^Contents of (\S+):\n(?:\[([^\n]*)\]\n(?:\[[^\n]*\]\n)*\n)?/.exec(text);
  if (head === null || foot === undefined) return undefined;
  const next = /start_index=(\d+)/.exec(foot)?.[1];
  return {
    address: head[1] ?? "",
    about: head[2]?.split(" | ") ?? [],
    text: text.slice(head[0].length),
    foot: foot.replace(/^\[|\]$/g, "").replace(/ Content truncated[^.]*\.| Kept as \S+/g, ""),
    next: next === undefined ? undefined : Number(next),
  };
}

/** Whether a page's text is Markdown, not source or plain text requested by the model. */
function isMarkdown(about: readonly string[]): boolean {
  const { raw, format = "auto" } = given;
  return (
    raw !== true &&
    (format === "markdown" || (format === "auto" && !about.some((fact) => /json|text\/plain/.test(fact))))
  );
}

function link(base: string) {
  return (text: (Node | string)[], address: string): Node => {
    if (!URL.canParse(address, base)) return element("span", {}, ...text);
    const { href, protocol } = new URL(address, base);
    // Only URLs that open a page or a mail program; no scripts.
    if (!["http:", "https:", "mailto:"].includes(protocol)) return element("span", {}, ...text);
    const made = element("a", { href, title: href }, ...text);
    made.addEventListener("click", (event) => {
      event.preventDefault();
      void host.openLink(href);
    });
    return made;
  };
}

function pageOf(first: Piece): HTMLElement {
  const [title, ...rest] = first.about;
  const isTitled = title?.startsWith('"') === true;
  const shownFacts = [first.address, ...(isTitled ? rest : first.about)].join(" · ");
  const header = element(
    "header",
    {},
    element("h1", {}, isTitled ? title.slice(1, -1) : new URL(first.address).host),
    element("p", {}, shownFacts),
  );
  const article = element("article", { tabindex: "0", "aria-label": "Page" });
  const status = element("p", { class: "facts", role: "status" });
  const original = button("Open in browser");
  const more = button("Load more");
  let next = first.next;
  const add = (piece: Piece) => {
    if (isMarkdown(first.about)) article.append(...blocksOf(piece.text, { link: link(first.address) }));
    else {
      article.classList.add("plain");
      article.append(piece.text);
    }
    status.textContent = piece.foot;
    next = piece.next;
    more.hidden = next === undefined;
  };
  original.addEventListener("click", () => void host.openLink(first.address));
  more.addEventListener("click", async () => {
    if (more.disabled) return;
    more.disabled = true;
    status.textContent = "Loading …";
    const said = await host.callTool("fetch", { ...given, start_index: next }).then(
      (result) => (result.isError ? textOf(result) : (pieceOf(result) ?? textOf(result))),
      (error: Error) => error.message,
    );
    more.disabled = false;
    if (typeof said === "string") status.textContent = said;
    else add(said);
  });
  add(first);
  return element("main", {}, header, article, element("div", { class: "bar" }, status, original, more));
}

/** An image, or a message instead of a page. */
function otherOf(result: ToolResult): HTMLElement {
  const picture = result.content?.find(({ type }) => type === "image");
  const isShown = picture?.data !== undefined && /^image\/(png|jpeg|gif|webp)$/.test(picture.mimeType ?? "");
  if (!isShown) return plain(textOf(result), result.isError);
  const shown = element("img", {
    src: `data:${picture.mimeType};base64,${picture.data}`,
    alt: "The fetched image",
  });
  return element("main", {}, shown, element("p", { class: "note" }, textOf(result)));
}

host.onInput = (input) => {
  given = input;
};
host.onResult = (result) => {
  const piece = result.isError ? undefined : pieceOf(result);
  document.body.replaceChildren(piece === undefined ? otherOf(result) : pageOf(piece));
};
void host.connect("refmcp-page");
