import { type Document, DocumentError } from "./document.ts";

/** The escapes that color the text of a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: an escape begins with a control character
const COLORS = /\u001b\[[\d;]*m/g;
/** More characters of one cell's outputs are cut. */
const MAX_OUTPUT = 20_000;

/**
 * The cells of a Jupyter notebook (nbformat 4) with their text outputs; pictures are only named.
 *
 * @throws DocumentError if it is not a notebook.
 */
export function notebookDocument(json: string): Document {
  const notebook: unknown = parsed(json);
  const cells = arrayIn(notebook, "cells");
  if (cells === undefined) throw new DocumentError("it is not a Jupyter notebook");
  return {
    label: "Jupyter notebook",
    unit: "cell",
    parts: cells.map((cell) => {
      const outputs = (arrayIn(cell, "outputs") ?? [])
        .map(outputText)
        .filter((text) => text !== "");
      const output = outputs.join("\n");
      const shown = output.length > MAX_OUTPUT ? `${output.slice(0, MAX_OUTPUT)}\n(cut)` : output;
      const source = textIn(cell, "source");
      return {
        name: textIn(cell, "cell_type"),
        text: shown === "" ? source : `${source}\n--- output\n${shown}`,
      };
    }),
  };
}

function outputText(output: unknown): string {
  const traceback = arrayIn(output, "traceback");
  if (traceback !== undefined) return traceback.map(String).join("\n").replace(COLORS, "");
  const data = fieldIn(output, "data") ?? output;
  const text = textIn(data, "text/plain") || textIn(data, "text");
  const pictures = Object.keys(isRecord(data) ? data : {}).filter((name) => /^image/.test(name));
  return [text.replace(COLORS, "").trimEnd(), ...pictures.map((type) => `(${type})`)]
    .filter((part) => part !== "")
    .join("\n");
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json.replace(/^\ufeff/, ""));
  } catch {
    throw new DocumentError("it is not valid JSON");
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const fieldIn = (value: unknown, name: string): unknown =>
  isRecord(value) ? value[name] : undefined;

function arrayIn(value: unknown, name: string): unknown[] | undefined {
  const field = fieldIn(value, name);
  return Array.isArray(field) ? field : undefined;
}

/** Text is a string, or an array of its lines. */
function textIn(value: unknown, name: string): string {
  const field = fieldIn(value, name);
  if (Array.isArray(field)) return field.map(String).join("");
  return typeof field === "string" ? field : "";
}
