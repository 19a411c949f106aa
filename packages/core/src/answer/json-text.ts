/**
 * A data tool's value that is JSON text already. It is sent unchanged, both as text and as structured content, and is
 * neither parsed nor checked against `output`: the tool's tests do that.
 */
export class JsonText {
  readonly text: string;
  /** A PNG that shows what the text says. */
  readonly picture: Uint8Array | undefined;

  constructor(text: string, picture?: Uint8Array) {
    // A message over stdio is one line. Between JSON's tokens any whitespace is fine; within its strings
    // there is no line break.
    this.text = /[\r\n]/.test(text) ? text.replaceAll(/[\r\n]/g, " ") : text;
    this.picture = picture;
  }

  /** For writing a message without splicing in the text. */
  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}
