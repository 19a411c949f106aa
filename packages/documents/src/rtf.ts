import { TextDecoder } from "node:util";
import { type Document, DocumentError } from "./document.ts";

/** Groups that contain no text of the document (RTF 1.9.1). */
const HIDDEN =
  /^(?:fonttbl|colortbl|stylesheet|info|pict|object|themedata|datastore|listtable|listoverridetable|rsidtbl|generator|fldinst|filetbl|revtbl|xmlnstbl|latentstyles|header[lrf]?|footer[lrf]?)$/;
const SIGNS: Readonly<Record<string, string>> = {
  par: "\n",
  line: "\n",
  sect: "\n",
  page: "\n",
  row: "\n",
  cell: " | ",
  tab: "\t",
  bullet: "•",
  endash: "–",
  emdash: "—",
  lquote: "‘",
  rquote: "’",
  ldblquote: "“",
  rdblquote: "”",
};
const TOKEN = /\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([\da-f]{2})|\\([^a-z])|([{}])|([^\\{}\r\n]+)/gi;
const MAX_DEPTH = 10_000;

interface Group {
  hidden: boolean;
  /** How many characters after \u are its replacement. */
  fallback: number;
}

/**
 * The text of a Rich Text document.
 *
 * @throws DocumentError for groups that are nested too deeply.
 */
export function rtfDocument(bytes: Uint8Array): Document {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  const decoder = decoderFor(/\\ansicpg(\d{1,5})/.exec(source.slice(0, 1_000))?.[1]);
  const groups: Group[] = [];
  let group: Group = { hidden: false, fallback: 1 };
  let text = "";
  let skip = 0;
  /** Bytes of the document's code page that were not decoded yet: a character can have two. */
  let pending: number[] = [];
  const flush = (): void => {
    if (pending.length > 0) text += decoder.decode(Uint8Array.from(pending));
    pending = [];
  };
  const add = (some: string): void => {
    flush();
    if (!group.hidden) text += some;
  };
  for (const [, word, number, hex, symbol, brace, plain] of source.matchAll(TOKEN)) {
    if (hex !== undefined) {
      if (skip > 0) skip -= 1;
      else if (!group.hidden) pending.push(Number.parseInt(hex, 16));
      continue;
    }
    if (brace === "{") {
      flush();
      if (groups.length >= MAX_DEPTH) throw new DocumentError("its groups are nested too deeply");
      groups.push(group);
      group = { ...group };
    } else if (brace === "}") {
      flush();
      group = groups.pop() ?? group;
    } else if (word !== undefined) {
      flush();
      if (HIDDEN.test(word)) group.hidden = true;
      else if (word === "uc") group.fallback = Number(number ?? 1);
      else if (word === "u") {
        add(String.fromCharCode((Number(number) + 65_536) % 65_536));
        skip = group.fallback;
      } else if (word === "bin") throw new DocumentError("it contains binary data");
      else add(SIGNS[word] ?? "");
    } else if (symbol !== undefined) {
      if (symbol === "*") group.hidden = true;
      else if (symbol === "~") add(" ");
      else if (symbol === "\n" || symbol === "\r") add("\n");
      else if (/[\\{}]/.test(symbol)) add(symbol);
    } else if (plain !== undefined) {
      const rest = plain.slice(Math.min(skip, plain.length));
      skip -= plain.length - rest.length;
      add(rest);
    }
  }
  flush();
  return {
    label: "Rich Text document",
    parts: [{ name: "", text: text.replace(/\n{3,}/g, "\n\n").trim() }],
  };
}

/** For a code page of Windows. */
function decoderFor(codePage = "1252"): TextDecoder {
  const names: Readonly<Record<string, string>> = {
    932: "shift_jis",
    936: "gbk",
    949: "euc-kr",
    950: "big5",
    65001: "utf-8",
  };
  try {
    return new TextDecoder(names[codePage] ?? `windows-${codePage}`);
  } catch {
    return new TextDecoder("windows-1252");
  }
}
