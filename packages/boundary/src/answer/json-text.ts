/**
 * A data tool's value as JSON text. It is sent unchanged, both as text and as structured content, without being parsed
 * or checked against `output`: the tool's tests do that.
 */
export class JsonText {
  readonly text: string;
  /** A PNG with the same content as the text. */
  readonly picture: Uint8Array | undefined;

  constructor(text: string, picture?: Uint8Array) {
    // A message over stdio is one line. JSON allows any whitespace between tokens, and no line breaks in strings.
    this.text = /[\r\n]/.test(text) ? text.replaceAll(/[\r\n]/g, " ") : text;
    this.picture = picture;
  }

  /** For a message that is written without splicing in the text. */
  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
