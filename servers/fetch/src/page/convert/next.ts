/** The next page of the same text, list or thread, so that a reader of the last piece knows how to go on. */
import { type PageDocument, type PageElement, textOf } from "../content/document.ts";

/** The words of a link to the next page, without its arrows. */
const WORDS =
  /^(?:next(?: page| chapter| part)?|older(?: posts| entries| comments)?|more results|weiter|nächste(?: seite)?|page suivante|suivante?|siguiente|pagina successiva|volgende|próxima|далее|次へ|下一页)$/i;
const ARROW = /^(?:[»›→>]+|>>)$/;
/** The number of a page in its URL: `?page=2`, `/page/2/`, `/page-2`, `-2.html`. */
const NUMBER =
  /([?&](?:p|pg|page|paged|start|offset|from)=|\/(?:page|p|seite)[/-]|[-_](?=\d{1,4}(?:\.\w+|\/)?$))(\d{1,6})/i;

/**
 * The next page on the same origin: by `rel=next`, by a link that says so, or by the number after that of this page. A numbered
 * page is preferred, because blogs also call their next article that.
 */
export function nextPageIn(document: PageDocument, base: string): string | undefined {
  if (!URL.canParse(base)) return undefined;
  const here = pageOf(base, base);
  const links = [...document.querySelectorAll("a[href], link[rel~=next i]")]
    .map((element) => ({ element, page: pageOf(element.getAttribute("href") ?? "", base) }))
    .filter(({ page }) => page.origin === here.origin && page.href !== here.href);
  const numbered = links.filter(({ page }) => page.pattern === here.pattern);
  const isNamed = ({ element }: { element: PageElement }): boolean =>
    /(?:^|\s)next(?:\s|$)/i.test(element.getAttribute("rel") ?? "");
  const next =
    numbered.find(isNamed) ??
    numbered.find(({ element, page }) => says(element) && page.number > here.number) ??
    numbered.find(
      ({ element, page }) =>
        page.number === here.number + 1 && textOf(element) === String(page.number),
    ) ??
    links.find(isNamed) ??
    links.find(
      ({ element, page }) =>
        page.folder === here.folder && says(element) && !ARROW.test(textOf(element)),
    );
  return next?.page.href;
}

function says(element: PageElement): boolean {
  const texts = [
    textOf(element),
    element.getAttribute("aria-label"),
    element.getAttribute("title"),
  ];
  return texts.some((text) => {
    const words = (text ?? "").trim().slice(0, 60);
    return ARROW.test(words) || WORDS.test(words.replace(/^[\s«»‹›←→<>|]+|[\s«»‹›→<>|]+$/g, ""));
  });
}

/** An address without its fragment, and what it has in common with other pages of the same text. */
function pageOf(href: string, base: string) {
  const url = URL.canParse(href, base) ? new URL(href, base) : new URL("about:blank");
  url.hash = "";
  const path = url.pathname + url.search;
  const number = Number(NUMBER.exec(path)?.[2] ?? 1);
  // The first page often has no number.
  const pattern = path.replace(NUMBER, "").replace(/[-_/?&]+(?=\.\w+$|$)/, "");
  const folder = url.pathname.slice(0, url.pathname.lastIndexOf("/") + 1);
  return { origin: url.origin, href: url.href, folder, number, pattern };
}
