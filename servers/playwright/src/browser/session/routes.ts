import { isJson, ToolError } from "@refmcp/boundary/answer";
import type { Request, Route } from "playwright";
import { type Answer, contentTypeOf } from "../language/plan.ts";
import { shown } from "../library.ts";
import type { StepScope } from "./steps.ts";

type Scope = Pick<StepScope, "readUpload" | "secrets" | "events">;

/** A response that the model or a file wrote. */
interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

/** Requests whose response a page does not run by itself, and content that it may run all the same. */
const DATA = /^(?:fetch|xhr|image|media|font)$/;
const CODE = /html|xml|svg|script|css/;

/**
 * A handler of routes that gives one answer to each matching request. It reads its file once, before the first.
 *
 * @throws ToolError for a file that may not be read, or is not a recording.
 */
export async function handlerOf(
  { method, reply, delay = 0 }: Answer,
  scope: Scope,
): Promise<(route: Route) => Promise<void>> {
  const replyTo = await repliesOf(reply, scope);
  const answer = (route: Route) => {
    const request = route.request();
    if (reply === "blocked") return route.abort();
    if (typeof reply === "object" && "header" in reply) {
      const [name, value] = reply.header;
      return route.fallback({ headers: { ...request.headers(), [name]: value } });
    }
    const made = replyTo(request);
    if (made === undefined) return route.fallback();
    const type = made.headers["content-type"] ?? "";
    const isFilled = made.body.length > 0 || (typeof reply === "object" && "har" in reply);
    const isCode = isFilled && (!DATA.test(request.resourceType()) || CODE.test(type));
    if (isCode && !scope.secrets.allowCode()) {
      scope.events.notes.add(
        "a mock with a page, script or style sheet was not used: a secret was written",
      );
      return route.abort();
    }
    return route.fulfill(made);
  };
  return async (route) => {
    const request = route.request();
    if (method !== undefined && request.method() !== method) return route.fallback();
    if (delay === 0) return answer(route);
    scope.events.delay(request, delay);
    await new Promise((resolve) => setTimeout(resolve, delay).unref());
    // By now, the page may be gone.
    await answer(route).catch(() => undefined);
  };
}

/** What is replied to a request; undefined if the server's own response is used. */
async function repliesOf(
  reply: Answer["reply"],
  { readUpload, secrets }: Scope,
): Promise<(request: Request) => Reply | undefined> {
  if (typeof reply === "string" || "header" in reply) return () => undefined;
  if ("har" in reply)
    return recorded(reply.har, (await readUpload(reply.har)).buffer.toString("utf8"), secrets.seen);
  const { status, body, file } = reply;
  const content =
    file === undefined
      ? { body: body ?? "", type: body === undefined ? undefined : contentTypeOf(body) }
      : await readUpload(file).then(({ buffer, mimeType }) => ({ body: buffer, type: mimeType }));
  const headers: Record<string, string> =
    content.type === undefined ? {} : { "content-type": content.type };
  return () => ({ status, headers, body: content.body });
}

/** Headers about how a body was sent: a replayed one is sent decoded and whole. */
const SENDING =
  /^(?:content-encoding|content-length|transfer-encoding|connection|keep-alive|:.*)$/i;

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/**
 * The responses of a HAR file, by method, URL and body; several to the same request in their order, the last one again.
 *
 * @throws ToolError `invalid` if it is not one, or keeps its bodies in other files.
 */
function recorded(
  name: string,
  text: string,
  seen: (text: string) => string,
): (request: Request) => Reply | undefined {
  const log: unknown = isJson(text) ? Object(Object(JSON.parse(text)).log) : undefined;
  if (log === undefined || !Array.isArray(Reflect.get(Object(log), "entries")))
    throw new ToolError(
      "invalid",
      `${shown(name)} is not a HAR file: it has no log with entries.`,
      {
        hint: 'Save one in the browser\'s developer tools ("Save all as HAR with content"), or with recordHar of Playwright.',
      },
    );
  const replies = new Map<string, Reply[]>();
  for (const entry of listOf(Reflect.get(Object(log), "entries"))) {
    const { request, response } = Object(entry);
    const { method, url, postData } = Object(request);
    const { status, content } = Object(response);
    // 0 and -1: it failed.
    if (!(Number(status) >= 100) || typeof url !== "string") continue;
    if (Object(content)._file !== undefined)
      throw new ToolError("invalid", `${shown(name)} has its bodies in other files.`, {
        hint: 'Record it with content: "embed".',
      });
    const { text: body, encoding, mimeType } = Object(content);
    const headers = Object.fromEntries(
      listOf(Object(response).headers).flatMap((header) => {
        const { name: key, value } = Object(header);
        return SENDING.test(String(key)) ? [] : [[String(key).toLowerCase(), String(value)]];
      }),
    );
    if (typeof mimeType === "string" && mimeType !== "") headers["content-type"] ??= mimeType;
    const key = keyOf(String(method), url, Object(postData).text);
    const reply = {
      status: Number(status),
      headers,
      body: Buffer.from(String(body ?? ""), encoding === "base64" ? "base64" : "utf8"),
    };
    replies.set(key, [...(replies.get(key) ?? []), reply]);
  }
  return (request) => {
    // As it may be seen: otherwise the response would tell whether a recorded URL has the secret.
    const key = keyOf(request.method(), seen(request.url()), seen(request.postData() ?? ""));
    const found = replies.get(key);
    return found !== undefined && found.length > 1 ? found.shift() : found?.[0];
  };
}

function keyOf(method: string, url: string, body: unknown): string {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address !== undefined) address.hash = "";
  return JSON.stringify([
    method.toUpperCase(),
    address?.href ?? url,
    typeof body === "string" ? body : "",
  ]);
}
