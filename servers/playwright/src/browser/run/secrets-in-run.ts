import { ToolError } from "@refmcp/boundary/answer";
import { GUARD_SELECTOR } from "./guard.ts";
import { type Hidden, hiderOf, knownParts, PART_CHARS } from "./hiding.ts";
import { encodingsOf, redactedIn, type Secrets } from "./secrets.ts";

/** Shorter secrets would be found in almost every text; only the fields that they were written into are hidden. */
const MIN_CHARS = 3;
/** Maximum characters of known texts that are compared with a secret. */
const MAX_KNOWN = 300_000;

/**
 * The secrets of one run or session. Once a step has written a secret, everything that leaves the run has neither it
 * nor four characters of it in a row.
 */
export class SecretsInRun {
  readonly #all: Secrets;
  readonly #known: string[];
  /** By the names of the written secrets: the text of the pages just before. */
  readonly #written = new Map<string, string>();
  #ranCode = false;
  #hidden: readonly Hidden[] = [];
  #hide = (text: string) => text;

  /** @param known texts that the model itself wrote: hiding parts of them would confirm guesses. */
  constructor(all: Secrets, known: readonly string[]) {
    this.#all = all;
    this.#known = [...known];
  }

  /** Adds sentences of the model. */
  know(texts: readonly string[]): void {
    this.#known.push(...texts);
    this.#update();
  }

  /**
   * From now on, parts of this secret are hidden, too.
   *
   * @throws ToolError `denied` if the model's own code could read it.
   */
  written(name: string, before: string): void {
    if (this.#ranCode)
      throw new ToolError(
        "denied",
        "A mock gave this run a page, script or style sheet, so it cannot use secrets.",
        {
          hint: "Mock data only, or leave the secret out: the code of a mock could read it.",
          code: "secret",
        },
      );
    if (this.#written.has(name)) return;
    this.#written.set(name, before);
    this.#update();
  }

  hasWritten(name: string): boolean {
    return this.#written.has(name);
  }

  /** Whether a secret was written. */
  get isWritten(): boolean {
    return this.#written.size > 0;
  }

  /** What is hidden besides whole secrets. */
  get hidden(): readonly Hidden[] {
    return this.#hidden;
  }

  /** Asks to run the model's code in a page: once it ran, no secret is written, and once one is written, none runs. */
  allowCode(): boolean {
    this.#ranCode ||= !this.isWritten;
    return !this.isWritten;
  }

  /** A text of the page as checks may see it; unchanged until a secret is written. */
  readonly seen = (text: string): string => (this.isWritten ? this.redact(text) : text);

  redact(text: string): string {
    return this.#hide(this.#all.redact(text.replace(GUARD_SELECTOR, "[guard]")));
  }

  /** In JSON, also one value a line, parts of secrets are removed from its texts only: keys would make it unreadable. */
  redactFile(text: string): string {
    const whole = this.#all.redact(text.replace(GUARD_SELECTOR, "[guard]"));
    if (!this.isWritten) return whole;
    return (
      hiddenIn(whole, this.#hide, 2) ??
      whole
        .split("\n")
        .map((line) => hiddenIn(line, this.#hide) ?? this.#hide(line))
        .join("\n")
    );
  }

  redactIn<Value>(value: Value): Value {
    return redactedIn(value, (text) => this.redact(text));
  }

  get isEmpty(): boolean {
    return this.#all.isEmpty;
  }

  isBound(name: string): boolean {
    return this.#all.isBound(name);
  }

  check(name: string, url: string): void {
    this.#all.check(name, url);
  }

  value(name: string): string {
    return this.#all.value(name);
  }

  hide(state: string, tokens: readonly string[]): void {
    this.#all.hide(state, tokens);
  }

  #update(): void {
    this.#hidden = [...this.#written].flatMap(([name, before]) => {
      const value = this.#all.value(name);
      if (value.length < MIN_CHARS) return [];
      const forms = [...new Set(encodingsOf(value).map((form) => form.toLowerCase()))];
      const size = Math.min(PART_CHARS, value.length);
      const texts = [...this.#known, before].join("\n").slice(0, MAX_KNOWN).toLowerCase();
      return [{ instead: `[secret ${name}]`, forms, size, known: knownParts(forms, size, texts) }];
    });
    this.#hide = hiderOf(this.#hidden);
  }
}

/** A JSON text with its texts hidden; undefined if it is none. */
function hiddenIn(text: string, hide: (text: string) => string, indent?: number): string | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    return JSON.stringify(redactedIn(JSON.parse(text), hide), undefined, indent);
  } catch {
    return undefined;
  }
}
