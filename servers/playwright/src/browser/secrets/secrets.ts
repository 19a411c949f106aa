import { ToolError } from "@refmcp/boundary/answer";
import { failure } from "../errors.ts";
import { GUARD_SELECTOR, type Hidden, hiderOf, knownParts, PART_CHARS } from "./guard-engine.ts";

/** Values that only the server knows: a step refers to one by name, and no answer contains it. */
export class Secrets {
  readonly #values: ReadonlyMap<string, string>;
  readonly #origins: ReadonlyMap<string, readonly string[]>;
  #encodings: readonly (readonly [string, string])[];

  /** @param origins where each may be used; a secret without origins works on every site. */
  constructor(
    values: Iterable<readonly [name: string, value: string]>,
    origins: ReadonlyMap<string, readonly string[]> = new Map(),
  ) {
    this.#values = new Map(values);
    this.#origins = origins;
    const encodings = [...this.#values].flatMap(([name, value]) =>
      value.length < 3
        ? []
        : [...new Set(encodingsOf(value))].map((text) => [text, `[secret ${name}]`] as const),
    );
    this.#encodings = longestFirst(encodings);
  }

  /**
   * From `PW_SECRET_<NAME>` and `PW_SECRET_<NAME>_ORIGINS` in an environment.
   *
   * @throws ToolError `invalid` for invalid origins: a secret that should be bound must not work everywhere.
   */
  static from(env: NodeJS.ProcessEnv): Secrets {
    const all = Object.entries(env).flatMap(([key, value]) =>
      key.startsWith(PREFIX) && value !== undefined && value !== ""
        ? [[key.slice(PREFIX.length), value] as const]
        : [],
    );
    const names = new Set(all.map(([name]) => name));
    const isBinding = (name: string) =>
      name.endsWith(ORIGINS) && names.has(name.slice(0, -ORIGINS.length));
    return new Secrets(
      all.filter(([name]) => !isBinding(name)),
      new Map(
        all
          .filter(([name]) => isBinding(name))
          .map(([name, list]) => [name.slice(0, -ORIGINS.length), originsOf(name, list)]),
      ),
    );
  }

  get names(): readonly string[] {
    return [...this.#values.keys()].sort();
  }

  isBound(name: string): boolean {
    return this.#origins.has(name);
  }

  /** @throws ToolError `denied` if a secret is not allowed on a document's site. */
  check(name: string, url: string): void {
    const allowed = this.#origins.get(name);
    const origin = URL.canParse(url) ? new URL(url).origin : "null";
    if (allowed === undefined || allowed.includes(origin)) return;
    throw failure(
      "secret",
      `The secret ${name} is not allowed on ${origin}, only on ${allowed.join(", ")}.`,
      {
        hint: `The user can add the origin to the environment variable ${PREFIX}${name}${ORIGINS} of this server.`,
      },
    );
  }

  /** @throws ToolError `not_found` for an unknown name, with the existing ones. */
  value(name: string): string {
    const value = this.#values.get(name);
    if (value !== undefined) return value;
    const { names } = this;
    throw new ToolError(
      "not_found",
      `There is no secret ${name}; ${names.length === 0 ? "none is set" : `available: ${names.join(", ")}`}.`,
      { hint: `Set the environment variable ${PREFIX}${name} of this server.`, code: "secret" },
    );
  }

  /** Removes secrets, and passwords in URLs, from a text. */
  redact(text: string): string {
    let clean = text;
    for (const [encoding, instead] of this.#encodings) clean = clean.replaceAll(encoding, instead);
    return clean.replace(/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/?#@"'<>]*@/gi, "$1[credentials]@");
  }

  /** Whether there are any. */
  get isUsed(): boolean {
    return this.#values.size > 0;
  }

  /** Whether there is nothing to remove. */
  get isEmpty(): boolean {
    return this.#encodings.length === 0;
  }
}

/** A JSON value with every text in it redacted; numbers stay. */
export const redactedIn = <Value>(value: Value, redact: (text: string) => string): Value =>
  JSON.parse(JSON.stringify(value), (_key, one) => (typeof one === "string" ? redact(one) : one));

const PREFIX = "PW_SECRET_";
const ORIGINS = "_ORIGINS";

function originsOf(name: string, list: string): string[] {
  return list
    .split(/[\s,]+/)
    .filter((one) => one !== "")
    .map((one) => {
      const origin = URL.canParse(one) ? new URL(one).origin : "null";
      if (origin !== "null" && new URL(one).href === `${origin}/`) return origin;
      throw new ToolError("invalid", `${PREFIX}${name}: ${JSON.stringify(one)} is not an origin.`, {
        hint: "Use comma-separated origins: https://example.com,http://localhost:3000",
        code: "secret",
      });
    });
}

/** Longest first, so that no part of a longer one is left. */
const longestFirst = (all: readonly (readonly [string, string])[]) =>
  all.toSorted(([a], [b]) => b.length - a.length);

/** The forms of a value in a URL, in JSON, in HTML, in a header. */
export function encodingsOf(value: string): string[] {
  const json = JSON.stringify(value).slice(1, -1);
  return [
    value,
    json,
    encodeURIComponent(value),
    encodeURIComponent(value).replace(/%20/g, "+"),
    new URLSearchParams([["", value]]).toString().slice(1),
    value
      .replace(/&/g, "&amp;")
      .replace(/</g, "&lt;")
      .replace(/>/g, "&gt;")
      .replace(/"/g, "&quot;"),
    ...(value.length < LONG_CHARS ? [Buffer.from(value).toString("base64")] : binaryFormsOf(value)),
  ].filter((text) => text.length >= 3);
}

/** Hexadecimal, and Base64 of a text that contains the value, as in `Authorization: Basic`: three ways to align it. */
function binaryFormsOf(value: string): string[] {
  const bytes = Buffer.from(value);
  const aligned = [0, 1, 2].map((before) =>
    Buffer.concat([Buffer.alloc(before), bytes])
      .toString("base64")
      .slice(Math.ceil((before * 4) / 3), Math.floor(((before + bytes.length) * 4) / 3)),
  );
  const forUrls = aligned.map((one) => one.replaceAll("+", "-").replaceAll("/", "_"));
  return [bytes.toString("hex"), ...aligned, ...forUrls];
}

/** Shorter secrets would be found in almost every text; only the fields that they were written into are hidden. */
const MIN_CHARS = 3;
/** Secrets of this length are recognized wherever they appear, also in a run that does not write them. */
const LONG_CHARS = 8;
/** Characters in a row of a hexadecimal or Base64 form that count as a part: for four characters of the secret. */
const BINARY_PART_CHARS = 8;
const MAX_KNOWN = 300_000;

/**
 * The secrets of one run or session. Once a step has written a secret, everything that leaves the run has neither it
 * nor four characters of it in a row.
 */
export class SecretsInRun {
  /** Also those that were not written yet. */
  readonly all: Secrets;
  readonly #known: string[];
  /** By the names of the written secrets: the text of the pages just before. */
  readonly #written = new Map<string, string>();
  #ranCode = false;
  /** What replaces the short values of fields, once a secret was written in pieces too short to be recognized. */
  pieces: string | undefined;
  #hidden: readonly Hidden[] = [];
  #hide = (text: string) => text;

  /** @param known texts that the model itself wrote: hiding parts of them would confirm guesses. */
  constructor(all: Secrets, known: readonly string[]) {
    this.all = all;
    this.#known = [...known];
    this.#update();
  }

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
    this.#refuseAfterCode();
    if (this.#written.has(name)) return;
    this.#written.set(name, before);
    this.#update();
  }

  #refuseAfterCode(): void {
    if (!this.#ranCode) return;
    throw failure(
      "secret",
      "A mock gave this run a page, script or style sheet, so it cannot use secrets.",
      { hint: "Mock data only, or leave the secret out: the code of a mock could read it." },
    );
  }

  hasWritten(name: string): boolean {
    return this.#written.has(name);
  }

  get isWritten(): boolean {
    return this.#written.size > 0;
  }

  get hidden(): readonly Hidden[] {
    return this.#hidden;
  }

  /** Asks to run the model's code in a page: once it ran, no secret is written, and once one is written, none runs. */
  allowCode(): boolean {
    const isAllowed = !this.isWritten;
    this.#ranCode ||= isAllowed;
    return isAllowed;
  }

  /** A text of the page as checks may see it. */
  readonly seen = (text: string): string => (this.all.isUsed ? this.redact(text) : text);

  redact(text: string): string {
    return this.#hide(this.all.redact(text.replace(GUARD_SELECTOR, "[guard]")));
  }

  /** In JSON, also one value a line, parts of secrets are removed from its texts only: keys would make it unreadable. */
  redactFile(text: string): string {
    const whole = this.all.redact(text.replace(GUARD_SELECTOR, "[guard]"));
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

  /** An error without secrets; internal errors are not shown. */
  redactError(error: unknown): unknown {
    if (!(error instanceof ToolError)) return error;
    const { message, data } = this.redactIn({ message: error.message, data: error.data });
    return new ToolError(error.kind, message, { ...error, data, cause: error.cause });
  }

  get isEmpty(): boolean {
    return this.all.isEmpty;
  }

  #update(): void {
    this.#hidden = this.all.names.flatMap((name) => {
      const value = this.all.value(name);
      const before = this.#written.get(name);
      const instead = `[secret ${name}]`;
      const forms = [...new Set(encodingsOf(value).map((form) => form.toLowerCase()))];
      // A site may show what another run has written; then only the whole is certain to be the secret.
      if (before === undefined)
        return value.length < LONG_CHARS
          ? []
          : forms.map((form) => ({ instead, forms: [form], size: form.length, known: [] }));
      if (value.length < MIN_CHARS) return [];
      const binary =
        value.length < LONG_CHARS ? [] : binaryFormsOf(value).map((form) => form.toLowerCase());
      const texts = [OWN_WORDS, ...this.#known, before]
        .join("\n")
        .slice(0, MAX_KNOWN)
        .toLowerCase();
      // The whole in a text makes none of its parts known.
      const other = forms.reduce((rest, form) => rest.replaceAll(form, "\n"), texts);
      const partly = (some: readonly string[], size: number) =>
        some.length === 0
          ? []
          : [{ instead, forms: some, size, known: knownParts(some, size, other) }];
      return [
        ...partly(
          forms.filter((form) => !binary.includes(form)),
          Math.min(PART_CHARS, value.length),
        ),
        ...partly(binary, BINARY_PART_CHARS),
      ];
    });
    this.#hide = hiderOf(this.#hidden);
  }
}

/** The words of our own sentences: to hide a part of one would tell that the secret contains it. */
const OWN_WORDS = `nothing matches element elements match the first with status matched requests request response body
  headers header value attribute class style text title message dialog console error errors warning uncaught in page
  field holds secret not read only Enter Tab Escape function keys are pressed fill or clear it protect pressed could
  copy selectors compare contains part XPath component name by its role shows dragged dropped anywhere wait within
  visible hidden enabled disabled checked focused empty count exists missing snapshot heading button textbox link
  paragraph generic main navigation list listitem checkbox radio combobox option img alert level assertion failed
  passed download downloads finished running cookie localStorage screenshot there none different found
  action timed out expected different write guard another last line nth covered disabled closed tab opened frame`;

/** A JSON text with its texts hidden; undefined if it is none. */
function hiddenIn(
  text: string,
  hide: (text: string) => string,
  indent?: number,
): string | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    return JSON.stringify(redactedIn(JSON.parse(text), hide), undefined, indent);
  } catch {
    return undefined;
  }
}
