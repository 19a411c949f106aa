/** The blocks of an answer: what a page has, and our own lines in separate blocks, which a page cannot imitate. */
import { countOf, digits, sizeOf } from "@refmcp/boundary/answer";
import type { Snapshot } from "../read/snapshot.ts";
import type { Failure, FetchResult } from "./fetch-page.ts";
import { inHeader, urlInHeader } from "./piece.ts";
import type { QuestionResult } from "./question.ts";

/** A part of an answer. */
type Block =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly data: string; readonly mimeType: string }
  | {
      readonly type: "resource_link";
      readonly uri: string;
      readonly name: string;
      readonly mimeType: string;
      readonly size: number;
    };

/** Maximum bytes of an image that hosts show. */
const MAX_IMAGE_BYTES = 1_000_000;
const SHOWN_IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** The blocks of a page's answer: its piece under the official server's first line, its metadata, or its file. */
export function contentOf(result: FetchResult | Failure): Block[] {
  switch (result.kind) {
    case "failed":
      return [{ type: "text", text: `[${result.text}]` }];
    case "facts":
      return [{ type: "text", text: JSON.stringify(result.facts) }];
    case "file":
      return fileContent(result.snapshot);
    case "piece": {
      const { head, text, foot, isFirst } = result.piece;
      const about = isFirst ? `${head}\n\n` : "";
      return [
        { type: "text", text: `Contents of ${result.snapshot.answer.url.href}:\n${about}${text}` },
        { type: "text", text: foot },
      ];
    }
  }
}

/**
 * The blocks of an answer to a question: each passage under our line with its number and place, or the answer of the client's
 * model with the places of its sources.
 */
export function answerContent({
  passages,
  answer,
  chars,
  pages,
  failures,
}: QuestionResult): Block[] {
  const places = passages.map(({ url, headings, index }, at) => {
    const heading = headings.length === 0 ? "" : ` | ${inHeader(headings.join(" > "))}`;
    return `[${at + 1}] ${urlInHeader(url)}${heading} | start_index=${index}`;
  });
  const of = `${digits(chars)} characters of ${countOf(pages, "page")}`;
  const failed = failures.map((failure) => `[${failure}]`);
  const text = (lines: readonly string[]): Block => ({ type: "text", text: lines.join("\n") });
  if (answer !== undefined) {
    const about = `[Written by the client's model ${inHeader(answer.model.slice(0, 100))} from these passages of ${of}; check what matters with fetch:]`;
    return [text([answer.text]), text([about, ...places, ...failed])];
  }
  const blocks = passages.map((passage, at) => text([places[at] ?? "", passage.text]));
  const summary =
    passages.length === 0
      ? `[No passage in ${of} shares a word with the question. Ask in the words of the pages, or read them with fetch.]`
      : `[${countOf(passages.length, "passage")} from ${of}, the best first. To read on, call fetch with the URL and start_index.]`;
  return [...blocks, text([summary, ...failed])];
}

/** An image, or a link to the file with its type and size. */
function fileContent({ answer, body, uri }: Snapshot): Block[] {
  const href = urlInHeader(answer.url.href);
  const { mimeType } = body;
  const size = answer.body.length;
  if (SHOWN_IMAGES.includes(mimeType) && size <= MAX_IMAGE_BYTES && !answer.isCut)
    return [
      { type: "image", data: answer.body.toString("base64"), mimeType },
      { type: "text", text: `[${href} | ${mimeType} | ${sizeOf(size)} | Kept as ${uri}]` },
    ];
  const name = answer.url.pathname.split("/").findLast((part) => part !== "") ?? answer.url.host;
  return [
    { type: "resource_link", uri, name: name.slice(0, 200), mimeType, size },
    {
      type: "text",
      text: `[${href} has no text: ${mimeType}, ${answer.isCut ? `cut after the first ${sizeOf(size)}; --max-bytes sets the limit` : sizeOf(size)}. Its bytes: resource ${uri}]`,
    },
  ];
}
