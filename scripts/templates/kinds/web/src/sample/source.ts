import { clip, cursorsOf, ToolError } from "@refmcp/boundary/answer";
import { HttpClient } from "@refmcp/boundary/http-client";
import { createUrlGuard } from "@refmcp/boundary/url-guard";
import * as z from "zod";
import { type FindRequest, type Found, MAX_TEXT, pageOf } from "./page.ts";

export interface Settings {
  readonly baseUrl: URL;
  readonly token: string | undefined;
  readonly allowHost: readonly string[];
}

/** What one request may take. */
const BUDGETS = { bytes: 1_000_000, headersMs: 15_000, totalMs: 30_000, redirects: 3 };

/** What the API answers. Fields that no tool needs are left out of it. */
const listed = z.object({ notes: z.array(z.object({ id: z.string(), text: z.string() })) });

/**
 * The notes of a web API. Every address, also that of a redirect, is checked by the guard: a private one is reached only
 * where --allow-host names it.
 */
export class SampleSource {
  readonly #base: URL;
  readonly #client: HttpClient;

  private constructor({ baseUrl, token, allowHost }: Settings) {
    this.#base = new URL(baseUrl.href.replace(/\/?$/, "/"));
    this.#client = new HttpClient({
      guard: createUrlGuard({ allowHosts: allowHost }),
      budgets: BUDGETS,
      headersFor: ({ origin }): Record<string, string> =>
        token === undefined || origin !== this.#base.origin
          ? {}
          : { authorization: `Bearer ${token}` },
    });
  }

  /** @throws ToolError `invalid` for a host of --allow-host that cannot be read. */
  static open(settings: Settings): SampleSource {
    return new SampleSource(settings);
  }

  close(): void {
    this.#client.close();
  }

  /**
   * Finds notes, in the order of the API.
   *
   * @throws ToolError as `HttpClient.get` does; by the status; `unavailable` for an answer of another form.
   */
  async find(request: FindRequest): Promise<Found> {
    const { query, limit, cursor, signal } = request;
    const cursors = cursorsOf("sample_find", query, z.string());
    const after = cursors.decode(cursor) ?? "";
    const { notes } = await this.#get(
      "notes",
      { q: query, after, limit: `${limit + 1}` },
      listed,
      signal,
    );
    const found = notes.map(({ id, text }) => [{ id, text: clip(text, MAX_TEXT) }, id] as const);
    return pageOf(found, request, cursors);
  }

  async #get<Answer>(
    path: string,
    query: Readonly<Record<string, string>>,
    schema: z.ZodType<Answer>,
    signal: AbortSignal,
  ): Promise<Answer> {
    const url = new URL(path, this.#base);
    url.search = new URLSearchParams(query).toString();
    const { status, body, isCut } = await this.#client.get(url, {
      headers: { accept: "application/json" },
      signal,
    });
    if (status >= 400) throw failureOf(status);
    if (isCut)
      throw new ToolError(
        "too_large",
        `The API's answer is larger than ${BUDGETS.bytes / 1e6} MB.`,
        {
          hint: "Ask for less: a smaller limit.",
        },
      );
    try {
      return schema.parse(JSON.parse(body.toString("utf8")));
    } catch (cause) {
      throw new ToolError(
        "unavailable",
        "The API's answer has another form than this server knows.",
        {
          hint: "Ask the user to check --base-url, and for a newer version of this server.",
          cause,
        },
      );
    }
  }
}

/** A status of 400 and above, as an error that says what to do. */
function failureOf(status: number): ToolError {
  if (status === 401 || status === 403)
    return new ToolError("denied", `The API refused the request (status ${status}).`, {
      hint: "Ask the user to check --token.",
    });
  if (status === 404)
    return new ToolError("not_found", "The API has nothing at this address (status 404).", {
      hint: "Check the arguments; if they are right, ask the user to check --base-url.",
    });
  return new ToolError("unavailable", `The API answered with status ${status}.`, {
    hint: status === 429 ? "It limits its rate: wait, then ask for less." : "Try again later.",
  });
}
