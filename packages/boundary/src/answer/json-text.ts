import { shareAcrossBundles } from "./shared-class.ts";

/**
 * A data tool's value as JSON text. It is sent unchanged, both as text and as structured content, without being parsed
 * or checked against `output`: the tool's tests do that.
 */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    // A message over stdio is one line. JSON allows any whitespace between tokens, and no line breaks in strings.
    this.text = /[\r\n]/.test(text) ? text.replaceAll(/[\r\n]/g, " ") : text;
  }

  /** For a message that is written without splicing in the text. */
  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

shareAcrossBundles(JsonText, "JsonText");

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
