import { ToolError } from "@refmcp/boundary/answer";
import { failure } from "../errors.ts";

const PREFIX = "PW_SECRET_";
const ORIGINS = "_ORIGINS";
/** Shorter values are in almost every text; only the fields that they were written into are hidden. */
const MIN_CHARS = 3;
/** From this length on, values are also recognized as a part of a Base64 text, and in hexadecimal. */
const LONG_CHARS = 8;

/** Values that only the server knows: a step refers to one by name, and no answer or artifact contains it. */
export class Secrets {
  readonly #values: ReadonlyMap<string, string>;
  readonly #origins: ReadonlyMap<string, readonly string[]>;
  /** What is removed from texts, the longest first, so that no part of a longer one is left. */
  readonly #forms: readonly (readonly [form: string, instead: string])[];

  /** @param origins where each may be used; a secret without origins works on every site. */
  constructor(
    values: Iterable<readonly [name: string, value: string]>,
    origins: ReadonlyMap<string, readonly string[]> = new Map(),
  ) {
    this.#values = new Map(values);
    this.#origins = origins;
    this.#forms = [...this.#values]
      .flatMap(([name, value]) =>
        [...new Set(encodingsOf(value))].map((form) => [form, `[secret ${name}]`] as const),
      )
      .sort(([a], [b]) => b.length - a.length);
  }

  /**
   * From `PW_SECRET_<NAME>` and `PW_SECRET_<NAME>_ORIGINS` in an environment.
   *
   * @throws ToolError `invalid` for invalid origins: a secret that should be bound must not work everywhere.
   */
  static from(env: NodeJS.ProcessEnv): Secrets {
    const entries = Object.entries(env).flatMap(([key, value]) =>
      key.startsWith(PREFIX) && value !== undefined && value !== ""
        ? [[key.slice(PREFIX.length), value] as const]
        : [],
    );
    const names = new Set(entries.map(([name]) => name));
    const boundBy = (name: string) => {
      const secret = name.endsWith(ORIGINS) ? name.slice(0, -ORIGINS.length) : undefined;
      return secret !== undefined && names.has(secret) ? secret : undefined;
    };
    const origins = entries.flatMap(([name, list]) => {
      const secret = boundBy(name);
      return secret === undefined ? [] : [[secret, originsOf(secret, list)] as const];
    });
    return new Secrets(
      entries.filter(([name]) => boundBy(name) === undefined),
      new Map(origins),
    );
  }

  get values(): readonly string[] {
    return [...this.#values.values()];
  }

  get isEmpty(): boolean {
    return this.#values.size === 0;
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
    const names = [...this.#values.keys()].sort().join(", ");
    throw new ToolError(
      "not_found",
      `There is no secret ${name}; ${names === "" ? "none is set" : `available: ${names}`}.`,
      { hint: `Set the environment variable ${PREFIX}${name} of this server.`, code: "secret" },
    );
  }

  /** Removes secrets, and passwords in URLs, from a text. Call it before a text is cut. */
  readonly redact = (text: string): string => {
    let clean = text;
    for (const [form, instead] of this.#forms) clean = clean.replaceAll(form, instead);
    return clean.replace(/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/?#@"'<>]*@/gi, "$1[credentials]@");
  };

  /** An error for the caller without secrets; internal errors are not shown. */
  redactError(error: unknown): unknown {
    if (!(error instanceof ToolError)) return error;
    const { message, data, kind } = error;
    const clean = this.redactIn({ message, data });
    return new ToolError(kind, clean.message, { ...error, data: clean.data, cause: error.cause });
  }

  /** A JSON value without secrets in its texts; the places of artifacts are this server's own. */
  redactIn<Value>(value: Value): Value {
    if (value === undefined) return value;
    return JSON.parse(JSON.stringify(value), (key, item) =>
      typeof item === "string" && key !== "path" && key !== "uri" ? this.redact(item) : item,
    );
  }
}

function originsOf(name: string, list: string): string[] {
  return list
    .split(/[\s,]+/)
    .filter((url) => url !== "")
    .map((url) => {
      const origin = URL.canParse(url) ? new URL(url).origin : "null";
      if (origin !== "null" && new URL(url).href === `${origin}/`) return origin;
      throw new ToolError("invalid", `${PREFIX}${name}: ${JSON.stringify(url)} is not an origin.`, {
        hint: "Use comma-separated origins: https://example.com,http://localhost:3000",
        code: "secret",
      });
    });
}

/** The forms of a value in a URL, in JSON, in HTML, in a header. */
function encodingsOf(value: string): string[] {
  const escapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  const html = Object.entries(escapes).reduce((text, [a, b]) => text.replaceAll(a, b), value);
  return [
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(value),
    encodeURIComponent(value).replaceAll("%20", "+"),
    new URLSearchParams([["", value]]).toString().slice(1),
    html,
    ...(value.length < LONG_CHARS ? [Buffer.from(value).toString("base64")] : binaryFormsOf(value)),
  ].filter((form) => form.length >= MIN_CHARS);
}

/** Hexadecimal, and Base64 of a text that contains the value, as in `Authorization: Basic`: three ways to align it. */
function binaryFormsOf(value: string): string[] {
  const bytes = Buffer.from(value);
  const aligned = [0, 1, 2].map((before) =>
    Buffer.concat([Buffer.alloc(before), bytes])
      .toString("base64")
      .slice(Math.ceil((before * 4) / 3), Math.floor(((before + bytes.length) * 4) / 3)),
  );
  const forUrls = aligned.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"));
  return [bytes.toString("hex"), ...aligned, ...forUrls];
}

/** The secrets in one run or session, where the model's own code and a secret never meet. */
export class SecretsInRun {
  readonly all: Secrets;
  #isInUse = false;
  #ranCode = false;

  constructor(all: Secrets) {
    this.all = all;
  }

  /** Whether a step writes one, or has written one. */
  get isInUse(): boolean {
    return this.#isInUse;
  }

  /** @throws ToolError `denied` if code of the model ran, which could read what is written later. */
  use(): void {
    if (this.#ranCode)
      throw failure(
        "secret",
        "This run or session evaluated code, or had a mock with a page or script, so it cannot use secrets.",
        { hint: "That code could read them. Leave it out, or open another session for them." },
      );
    this.#isInUse = true;
  }

  /** Asks to run the model's code in a page. */
  allowCode(): boolean {
    this.#ranCode ||= !this.#isInUse;
    return !this.#isInUse;
  }
}
