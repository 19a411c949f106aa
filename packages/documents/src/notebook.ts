import { type Document, DocumentError } from "./document.ts";

/** The escapes that color the text of a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: an escape begins with a control character
const COLORS = /\u001b\[[\d;]*m/g;
/** More characters of one cell's outputs are cut. */
const MAX_OUTPUT = 20_000;

/** As notebooks should be; another value becomes no text. */
interface Cell {
  readonly cell_type?: unknown;
  readonly source?: unknown;
  readonly outputs?: readonly Output[];
}

interface Output {
  readonly traceback?: readonly unknown[];
  readonly data?: Readonly<Record<string, unknown>>;
  readonly text?: unknown;
}

/**
 * The cells of a Jupyter notebook (nbformat 4) with their text outputs; pictures are only named.
 *
 * @throws DocumentError if it is not a notebook.
 */
export function notebookDocument(json: string): Document {
  const cells: readonly Cell[] | undefined = parseNotebook(json)?.cells;
  if (!Array.isArray(cells)) throw new DocumentError("it is not a Jupyter notebook");
  return {
    label: "Jupyter notebook",
    unit: "cell",
    parts: cells.map(({ cell_type, source, outputs = [] }: Cell) => {
      const texts = outputs.map(outputText).filter((text) => text !== "");
      const output = texts.join("\n");
      const excerpt = output.length > MAX_OUTPUT ? `${output.slice(0, MAX_OUTPUT)}\n(cut)` : output;
      const code = textOf(source);
      const text = excerpt === "" ? code : `${code}\n--- output\n${excerpt}`;
      return { name: textOf(cell_type), text };
    }),
  };
}

function outputText({ traceback, data = {}, text }: Output): string {
  if (traceback !== undefined) return traceback.map(String).join("\n").replace(COLORS, "");
  const plain = textOf(data["text/plain"]) || textOf(text);
  const pictures = Object.keys(data).filter((name) => /^image/.test(name));
  return [plain.replace(COLORS, "").trimEnd(), ...pictures.map((type) => `(${type})`)]
    .filter((part) => part !== "")
    .join("\n");
}

function parseNotebook(json: string) {
  try {
    return JSON.parse(json.replace(/^\ufeff/, ""));
  } catch {
    throw new DocumentError("it is not valid JSON");
  }
}

/** Text is a string, or an array of its lines. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(String).join("");
  return typeof value === "string" ? value : "";
}
