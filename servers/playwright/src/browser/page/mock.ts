import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isJson, ToolError } from "@refmcp/boundary/answer";
import type { Page, Route } from "playwright";
import type { Answer } from "../language/ast.ts";
import { contentTypeOf } from "../language/locator.ts";
import { shown } from "../library.ts";
import type { SecretsInRun } from "../secrets/secrets.ts";
import type { RunFolder } from "../store/disk.ts";
import type { Upload } from "./downloads.ts";
import type { PageEvents } from "./events.ts";

/** What mocks need of a run. */
export interface MockScope {
  readonly page: Page;
  readonly folder: RunFolder;
  readonly events: PageEvents;
  readonly secrets: SecretsInRun;
  readonly readUpload: (path: string) => Promise<Upload>;
}

/** Requests whose response a page does not run by itself, and content that it may run all the same. */
const DATA = /^(?:fetch|xhr|image|media|font)$/;
const CODE = /html|xml|svg|script|css/;

/**
 * A handler of routes that gives one answer to each matching request. It reads its file once, before the first.
 *
 * @throws ToolError for a file that may not be read.
 */
export async function handlerOf(
  { method, reply, delay = 0 }: Answer,
  { readUpload, secrets, events }: MockScope,
): Promise<(route: Route) => Promise<void>> {
  const content = await contentOf(reply, readUpload);
  const answer = (route: Route) => {
    const request = route.request();
    if (reply === "blocked") return route.abort();
    const { body, type = "" } = content;
    const isCode = body.length > 0 && (!DATA.test(request.resourceType()) || CODE.test(type));
    if (isCode && !secrets.allowCode()) {
      events.notes.add(
        "a mock with a page, script or style sheet was not used: the run uses a secret",
      );
      return route.abort();
    }
    const headers: Record<string, string> = type === "" ? {} : { "content-type": type };
    return route.fulfill({ status: reply.status, headers, body });
  };
  return async (route) => {
    const request = route.request();
    if (method !== undefined && request.method() !== method) return route.fallback();
    if (delay === 0) return answer(route);
    await new Promise((resolve) => setTimeout(resolve, delay).unref());
    // By now, the page may be gone.
    await answer(route).catch(() => undefined);
  };
}

async function contentOf(
  reply: Answer["reply"],
  readUpload: MockScope["readUpload"],
): Promise<{ body: string | Buffer; type?: string | undefined }> {
  if (typeof reply === "string") return { body: "" };
  const { body, file } = reply;
  if (file === undefined)
    return { body: body ?? "", type: body === undefined ? undefined : contentTypeOf(body) };
  const { buffer, mimeType } = await readUpload(file);
  return { body: buffer, type: mimeType };
}

/**
 * Answers with what a HAR file has recorded, and lets the other requests go on.
 *
 * @throws ToolError `invalid` if it is not one, or keeps its bodies in other files, which could be any.
 */
export async function replay(file: string, { page, folder, readUpload }: MockScope): Promise<void> {
  const { buffer } = await readUpload(file);
  const text = buffer.toString("utf8");
  let isElsewhere = false;
  const har: unknown = isJson(text)
    ? JSON.parse(text, (key, value) => {
        isElsewhere ||= key === "_file";
        return value;
      })
    : undefined;
  if (!Array.isArray(Object(Object(har).log).entries))
    throw new ToolError("invalid", `${shown(file)} is not a HAR file.`, {
      hint: 'Save one in the browser\'s developer tools ("Save all as HAR with content").',
    });
  // Playwright would read any file that such a key names.
  if (isElsewhere)
    throw new ToolError("invalid", `${shown(file)} has its bodies in other files.`, {
      hint: 'Record it with content: "embed".',
    });
  // A name with a dot is not listed as an artifact.
  const path = join(folder.path, ".replayed.har");
  await writeFile(path, buffer, { mode: 0o600 });
  await page.context().routeFromHAR(path, { notFound: "fallback" });
}
