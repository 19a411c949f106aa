import type { Page } from "playwright";
import { evaluateWithCss } from "./in-page.ts";
import type { Item, Verdicts } from "./rules.ts";

/** The verdicts about a document, for search engines and for best practice. */
export async function domVerdicts(
  page: Page,
): Promise<{ seo: Verdicts; best_practices: Verdicts }> {
  const found = await evaluateWithCss(page, readDocument);
  const verdicts = (group: Readonly<Record<string, readonly Item[] | null>>): Verdicts =>
    Object.fromEntries(
      Object.entries(group).map(([rule, items]) => [
        rule,
        items === null
          ? undefined
          : { share: items.length === 0 ? 1 : 0, items: items.slice(0, 50), count: items.length },
      ]),
    );
  return { seo: verdicts(found.seo), best_practices: verdicts(found.best) };
}

/** Runs in the page: what is wrong with its document by rule; null for a rule that does not apply. */
async function readDocument(cssOf: (element: Element) => string) {
  /** Those that are wrong; a rule about elements that the page does not have does not apply. */
  const wrong = <One extends Element>(
    all: readonly One[],
    isWrong: (one: One) => boolean,
  ): Item[] | null =>
    all.length === 0 ? null : all.filter(isWrong).map((one) => ({ css: cssOf(one) }));
  const every = (css: string) => [...document.querySelectorAll(css)].slice(0, 5_000);
  const page = (isMet: boolean, text?: string): Item[] =>
    isMet ? [] : [text === undefined ? {} : { text: text.slice(0, 2_000) }];
  const content = (name: string) =>
    every(`meta[name="${name}" i]`)
      .map((meta) => meta.getAttribute("content") ?? "")
      .join(",");
  const isLanguage = (tag: string) => {
    try {
      return Intl.getCanonicalLocales(tag).length === 1 && /^[a-z]{2,3}(?:-|$)/i.test(tag);
    } catch {
      return false;
    }
  };
  const isAbsolute = (address: string) => /^https?:\/\//i.test(address) && URL.canParse(address);

  const links = every("a").filter((one) => one instanceof HTMLAnchorElement);
  const followed = links.filter((link) => /^https?:$/.test(link.protocol));
  const elsewhere = followed.filter(
    ({ href }) => href.split("#")[0] !== location.href.split("#")[0] || !href.includes("#"),
  );
  const vague =
    /^(?:(?:click|press|tap)(?: on)? (?:here|this)|here|this|go|link|(?:learn|read|see|find out|show|view)? ?more(?: info(?:rmation)?)?|details|continue|start|hier|mehr|weiterlesen|en savoir plus|lire la suite|ici|aquí|leer más|más)\W*$/i;
  const images = [...document.images].slice(0, 2_000);
  const seen = images.filter(
    ({ complete, naturalWidth, naturalHeight, clientWidth, clientHeight }) =>
      [complete, naturalWidth, naturalHeight, clientWidth, clientHeight].every(Boolean),
  );
  const isVector = (image: HTMLImageElement) =>
    /\.svg(?:[?#]|$)|^data:image\/svg/i.test(image.currentSrc);
  const canonical = every('link[rel~="canonical" i]').map((one) => one.getAttribute("href") ?? "");
  const hreflang = every('link[rel~="alternate" i][hreflang]');
  const data = every('script[type="application/ld+json" i]');
  const isStructured = (text: string) => {
    try {
      const value: unknown = JSON.parse(text);
      const objects = Array.isArray(value) ? value : [value];
      return objects.every(
        (one) => "@context" in Object(one) && ("@type" in Object(one) || "@graph" in Object(one)),
      );
    } catch {
      return false;
    }
  };
  const viewport = content("viewport");
  const lang = document.documentElement.lang;

  const robotsProblem = async (): Promise<string | undefined | null> => {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), 3_000);
    try {
      const response = await fetch(new URL("/robots.txt", location.href), { signal: abort.signal });
      if (response.status >= 500) return `the server answers robots.txt with ${response.status}`;
      // Without one, everything may be crawled.
      if (!response.ok) return null;
      const lines = (await response.text()).slice(0, 500_000).split(/\r\n|\r|\n/);
      let applies = false;
      let isAgent = false;
      let longest = "";
      let isAllowed = true;
      for (const [index, whole] of lines.entries()) {
        const line = whole.replace(/#.*/, "").trim();
        if (line === "") continue;
        const [, name = "", value = ""] = /^([a-z-]+)\s*:\s*(.*)$/i.exec(line) ?? [];
        const directive = name.toLowerCase();
        if (
          !/^(?:user-agent|allow|disallow|sitemap|host|crawl-delay|clean-param|noindex)$/.test(
            directive,
          )
        )
          return `line ${index + 1} of robots.txt is not a directive: ${line}`;
        if (directive === "sitemap" && !URL.canParse(value))
          return `line ${index + 1} of robots.txt has no absolute URL: ${line}`;
        if (directive === "user-agent") {
          applies = isAgent ? applies || value === "*" : value === "*";
          isAgent = true;
          continue;
        }
        isAgent = false;
        if (!applies || !/^(?:dis)?allow$/.test(directive) || value === "") continue;
        const pattern = value
          .split("*")
          .map((part) => part.replace(/[.+?^{}()|[\]\\/]/g, "\\$&"))
          .join(".*");
        const source = `^${pattern.replace(/\$(?!$)/g, "\\$")}`;
        if (!new RegExp(source).test(location.pathname + location.search)) continue;
        if (
          value.length < longest.length ||
          (value.length === longest.length && directive !== "allow")
        )
          continue;
        longest = value;
        isAllowed = directive === "allow";
      }
      return isAllowed ? undefined : `robots.txt disallows this page: ${longest}`;
    } catch {
      return null;
    } finally {
      clearTimeout(timer);
    }
  };
  const robots = await robotsProblem();

  const deprecations = await new Promise<Item[] | null>((resolve) => {
    const Observer: unknown = Reflect.get(window, "ReportingObserver");
    if (typeof Observer !== "function") return resolve(null);
    const texts = new Set<string>();
    const observer: unknown = Reflect.construct(Observer, [
      (reports: { body: { message: string; sourceFile: string; lineNumber: number } }[]) => {
        for (const { body } of reports)
          texts.add(`${body.message.slice(0, 2_000)} (${body.sourceFile}:${body.lineNumber})`);
      },
      { types: ["deprecation"], buffered: true },
    ]);
    Reflect.apply(Reflect.get(Object(observer), "observe"), observer, []);
    setTimeout(() => resolve([...texts].sort().map((text) => ({ text }))), 50);
  });

  return {
    seo: {
      crawlable: page(
        !/\b(?:noindex|none)\b/i.test(`${content("robots")},${content("googlebot")}`),
        "the robots meta element has noindex",
      ),
      title: page(document.title.trim() !== ""),
      description: page(content("description").replaceAll(",", "").trim() !== ""),
      canonical:
        canonical.length === 0
          ? null
          : page(canonical.length === 1 && canonical.every(isAbsolute), canonical.join(" ")),
      language: page(isLanguage(lang), lang === "" ? "<html> has no lang" : `lang is ${lang}`),
      heading: page(
        every("h1").some(
          (one) => (one.textContent ?? "").trim() !== "" || one.querySelector("img[alt]") !== null,
        ),
      ),
      "robots.txt": robots === null ? null : page(robots === undefined, robots),
      "link addresses": wrong(links, (link) => {
        const href = link.getAttribute("href");
        if (href === null)
          return !link.hasAttribute("name") && link.id === "" && !link.hasAttribute("role");
        return /^\s*(?:javascript:|file:)/i.test(href);
      }),
      "link texts": wrong(elsewhere, (link) =>
        vague.test(
          (link.getAttribute("aria-label") ?? link.textContent).replace(/\s+/g, " ").trim(),
        ),
      ),
      "image texts": wrong(
        images,
        (image) =>
          !image.hasAttribute("alt") &&
          !["aria-label", "aria-labelledby", "title"].some((name) => image.hasAttribute(name)) &&
          !/^(?:presentation|none)$/.test(image.getAttribute("role") ?? "") &&
          image.closest("[aria-hidden=true]") === null,
      ),
      hreflang: wrong(
        hreflang,
        (one) =>
          !isAbsolute(one.getAttribute("href") ?? "") ||
          !(
            one.getAttribute("hreflang") === "x-default" ||
            isLanguage(one.getAttribute("hreflang") ?? "")
          ),
      ),
      "structured data": wrong(data, (one) => !isStructured(one.textContent ?? "")),
    },
    best: {
      deprecations,
      doctype: page(document.doctype?.name === "html" && document.compatMode === "CSS1Compat"),
      charset: page(/^utf-8$/i.test(document.characterSet), `it is ${document.characterSet}`),
      viewport: page(
        /width\s*=/.test(viewport) &&
          !/user-scalable\s*=\s*(?:no|0)|maximum-scale\s*=\s*[01](?:\.\d+)?\s*(?:,|$)/.test(
            viewport,
          ),
        viewport === "" ? "there is none" : viewport,
      ),
      "broken images": wrong(
        images,
        ({ src, complete, naturalWidth }) => src !== "" && complete && naturalWidth === 0,
      ),
      "image aspect": wrong(seen, (image) => {
        const { naturalWidth, naturalHeight, clientWidth, clientHeight } = image;
        const isFitted = /^(?:contain|cover|scale-down|none)$/.test(
          getComputedStyle(image).objectFit,
        );
        // Rounding to whole pixels changes the ratio of small images.
        if (isFitted || isVector(image) || Math.min(clientWidth, clientHeight) < 20) return false;
        const ratio = clientWidth / clientHeight / (naturalWidth / naturalHeight);
        return ratio < 0.95 || ratio > 1.05;
      }),
      "image size": wrong(seen, (image) => {
        const shown = image.clientWidth * image.clientHeight * devicePixelRatio ** 2;
        const sent = image.naturalWidth * image.naturalHeight;
        return !isVector(image) && sent > 4 * shown && sent - shown > 100_000;
      }),
    },
  };
}
