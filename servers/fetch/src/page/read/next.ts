import { type PageDocument, textOf } from "../content/document.ts";

/** The words of a link to the next page, without its arrows. */
const NEXT =
  /^(?:next(?: page| chapter| part)?|older(?: posts| entries| comments)?|more results|continue reading|weiter|nächste(?: seite)?|page suivante|suivante?|siguiente|pagina successiva|successiva|volgende|próxima|próximo|далее|次へ|下一页)$/i;
const MAX_WORDS = 60;
const ARROW = /^(?:[»›→>]+|>>)$/;
/** A name of the number of a page, or of its first item, in a query. */
const PAGE_NAMES =
  /^(?:p|pg|page|paged|pagenum|pageno|page_?number|seite|start|offset|from|skip|s)$/i;

/**
 * The next page of the same text, list or thread on the same origin: by `rel=next`, a link
 * that says so, or the number after that of this page. A numbered page is preferred, since blogs call the next article so too.
 */
export function nextPageIn(document: PageDocument, base: string): string | undefined {
  if (!URL.canParse(base)) return undefined;
  const here = new URL(base);
  here.hash = "";
  const place = placeOf(here);
  const links = [...document.querySelectorAll("a[href], link[rel~=next i]")].flatMap((element) => {
    const url = urlOf(element.getAttribute("href") ?? "", base);
    if (url?.origin !== here.origin) return [];
    url.hash = "";
    return url.href !== here.href ? [{ element, url, place: placeOf(url) }] : [];
  });
  const pages = links.filter((link) => link.place.pattern === place.pattern);
  const isNamed = ({ element }: (typeof links)[number]) =>
    /(?:^|\s)next(?:\s|$)/i.test(element.getAttribute("rel") ?? "");
  const says = ({ element }: (typeof links)[number]) => {
    const words = [
      textOf(element),
      element.getAttribute("aria-label"),
      element.getAttribute("title"),
    ];
    return words.some((word) => {
      const text = (word ?? "").trim();
      if (text === "" || text.length > MAX_WORDS) return false;
      return ARROW.test(text) || NEXT.test(text.replace(/^[\s«»‹›←→<>|]+|[\s«»‹›→<>|]+$/g, ""));
    });
  };
  const found =
    pages.find(isNamed) ??
    pages.find((link) => says(link) && link.place.number > place.number) ??
    pages.find(
      ({ element, place: { number } }) =>
        number === place.number + 1 && textOf(element) === String(number),
    ) ??
    links.find(isNamed) ??
    links.find(
      (link) =>
        says(link) && folderOf(link.url) === folderOf(here) && !ARROW.test(textOf(link.element)),
    );
  return found?.url.href;
}

function urlOf(href: string, base: string): URL | undefined {
  if (/^(?:#|[a-gi-z]\w+:)/i.test(href)) return undefined;
  try {
    return new URL(href, base);
  } catch {
    return undefined;
  }
}

const folderOf = ({ pathname }: URL): string => pathname.slice(0, pathname.lastIndexOf("/") + 1);

/**
 * The number of a page in its URL (`?page=2`, `/page/2/`, `-2.html`), and the URL without it. Without a number it is the first.
 */
function placeOf(url: URL): { readonly pattern: string; readonly number: number } {
  const query = new URLSearchParams(url.search);
  for (const [name, value] of query)
    if (PAGE_NAMES.test(name) && /^\d{1,6}$/.test(value)) {
      query.delete(name);
      return { pattern: `${url.pathname}?${query}`, number: Number(value) };
    }
  const path =
    /^(.*?)(?:\/(?:page|p|seite)[/-](\d{1,5})|[-_](?:page|p)?-?(\d{1,4})(?=\.\w+$|\/?$))(\/?(?:\.\w+)?)$/i.exec(
      url.pathname,
    );
  const [, before = url.pathname, folder, suffix, after = ""] = path ?? [];
  const number = folder ?? suffix;
  const pattern =
    number === undefined ? url.pathname : before + (after || (folder === undefined ? "" : "/"));
  return {
    pattern: `${pattern.replace(/\/+$/, "") || "/"}?${query}`,
    number: number === undefined ? 1 : Number(number),
  };
}
