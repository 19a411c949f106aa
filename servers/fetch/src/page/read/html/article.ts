import { Readability } from "@mozilla/readability";
import { dateOf } from "../date.ts";
import { writeFirst } from "./code.ts";
import { HEADINGS, type PageDocument, type PageElement, textOf } from "./document.ts";

/**
 * Removes the class and id of a heading, and of elements that contain nothing else: Readability drops elements whose names
 * have words such as "header" or "extra" (mozilla/readability#928).
 */
function anonymize(heading: PageElement): void {
  if (textOf(heading) === "") return;
  let at = heading;
  for (;;) {
    at.removeAttribute("class");
    at.removeAttribute("id");
    const { parentElement: parent, previousSibling, nextSibling } = at;
    const isAlone =
      at.previousElementSibling === null &&
      at.nextElementSibling === null &&
      [previousSibling, nextSibling].every((one) => !one?.textContent?.trim());
    if (
      !isAlone ||
      parent === null ||
      !/^(?:DIV|SECTION|HEADER|HGROUP|SPAN|A)$/.test(parent.tagName)
    )
      return;
    at = parent;
  }
}

/** Readability searches these attributes in quadratic time. */
const MAX_IMAGE_ATTRIBUTE = 1_000;

/** Extracts the main content with Readability. The document can't be used afterwards. */
export function readArticle(document: PageDocument) {
  writeFirst(document.body, document);
  for (const heading of document.querySelectorAll(HEADINGS)) anonymize(heading);
  // Readability drops sections by their ids, too; comments are an exception.
  for (const section of document.querySelectorAll("section[id], div.section[id]"))
    if (!/comment/i.test(section.id)) section.removeAttribute("id");
  // It makes h2 of h1, but keeps attributes.
  for (const title of document.querySelectorAll("h1")) title.setAttribute("data-title", "");
  for (const image of document.querySelectorAll("img, picture, figure, video, audio, source"))
    for (const { name, value } of [...image.attributes])
      if (value.length > MAX_IMAGE_ATTRIBUTE && name !== "src") image.removeAttribute(name);
  try {
    const article = new Readability<PageElement>(document, {
      keepClasses: true,
      serializer: asElement,
    }).parse();
    if (!article?.content) return undefined;
    const { content, byline } = article;
    for (const title of content.querySelectorAll("h2[data-title]")) {
      const heading = document.createElement("h1");
      heading.append(...title.childNodes);
      title.replaceWith(heading);
    }
    const published = dateOf(article.publishedTime ?? undefined);
    return {
      content,
      chars: textOf(content).length,
      facts: {
        ...(byline ? { byline: byline.trim().slice(0, 200) } : {}),
        ...(published ? { published } : {}),
      },
    };
  } catch {
    return undefined;
  }
}

/** Readability's types require a browser's DOM; here it gets linkedom's. */
const asElement = (node: unknown): PageElement => node as PageElement;
