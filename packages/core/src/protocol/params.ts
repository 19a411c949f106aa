import { clip, grouped } from "@refmcp/boundary/answer";
import { LOGGING_LEVELS } from "../define/content.ts";
import { invalidParams } from "./errors.ts";
import { isObject, MAX_SHOWN, MAX_URI_CHARS, show } from "./messages.ts";
import { type Era, META, type RequestMessage, type RpcError } from "./wire.ts";

/** A parameter of a method: its path in `params`, and its check. */
interface Parameter {
  readonly path: readonly string[];
  /** Completes the sentence "params.<path> must …". */
  readonly must: string;
  readonly fits: (value: unknown) => boolean;
  readonly optional?: true;
  /** How the message shows the value, if its type is not enough. */
  readonly shown?: (value: unknown) => string;
}

/** The parameters of a method by era; an era without the method is absent. */
type Method = { readonly [E in Era]?: readonly Parameter[] };

const isString = (value: unknown): boolean => typeof value === "string";
const every = (fits: Parameter["fits"]) => (value: unknown) =>
  isObject(value) && Object.values(value).every(fits);

const parameter = (path: readonly string[], must: string, fits: Parameter["fits"]): Parameter => ({
  path,
  must,
  fits,
});
const at = (path: string) => path.split(".");
const string = (path: string): Parameter => parameter(at(path), "be a string", isString);
const object = (path: string): Parameter => parameter(at(path), "be an object", isObject);
const boolean = (path: string): Parameter =>
  parameter(at(path), "be true or false", (value) => typeof value === "boolean");
/** Maximum length of a prompt's argument; the prompt may repeat it. */
const MAX_ARGUMENT_CHARS = 20_000;
const strings = (path: string): Parameter =>
  parameter(
    at(path),
    `be an object whose values are strings of at most ${grouped(MAX_ARGUMENT_CHARS)} characters`,
    every((value) => typeof value === "string" && value.length <= MAX_ARGUMENT_CHARS),
  );
const level = (path: readonly string[]): Parameter =>
  parameter(path, `be one of ${LOGGING_LEVELS.join(", ")}`, (value) =>
    LOGGING_LEVELS.some((one) => one === value),
  );
const optional = (required: Parameter): Parameter => ({ ...required, optional: true });
/** A limit on a string or an array; another row checks the type. */
const atMost = (path: string, max: number, unit: string): Parameter => ({
  ...parameter(at(path), `have at most ${grouped(max)} ${unit}`, (value) => lengthOf(value) <= max),
  optional: true,
  shown: (value) => grouped(lengthOf(value)),
});
const lengthOf = (value: unknown): number =>
  typeof value === "string" || Array.isArray(value) ? value.length : 0;

const below = (prefix: readonly string[], rows: readonly Parameter[]): Parameter[] =>
  rows.map((row) => ({ ...row, path: [...prefix, ...row.path] }));

const inBothEras = (...parameters: Parameter[]): Method => ({ legacy: parameters, modern: parameters });
const inLegacy = (...parameters: Parameter[]): Method => ({ legacy: parameters });
const inModern = (...parameters: Parameter[]): Method => ({ modern: parameters });
/** A method that may return `input_required`; the retry contains the client's answers. */
const withRetry = (...parameters: Parameter[]): Method => ({
  legacy: parameters,
  modern: [...parameters, optional(object("inputResponses")), optional(string("requestState"))],
});

/** How many URIs one request may name. */
const MAX_URIS = 1_000;

const uri = (path: string): Parameter[] => [string(path), atMost(path, MAX_URI_CHARS, "characters")];

/** `Implementation`: the client's name and version. */
const IMPLEMENTATION: readonly Parameter[] = [
  string("name"),
  string("version"),
  ...["title", "description", "websiteUrl"].map((name) => optional(string(name))),
  optional(
    parameter(
      ["icons"],
      'be an array of objects, each with "src", a string',
      (value) => Array.isArray(value) && value.every((icon) => isObject(icon) && isString(icon.src)),
    ),
  ),
];

/** `ClientCapabilities`, of all revisions. */
const CAPABILITIES: readonly Parameter[] = [
  ...[
    "roots",
    "sampling",
    "sampling.context",
    "sampling.tools",
    "elicitation",
    "elicitation.form",
    "elicitation.url",
    "tasks",
    "tasks.list",
    "tasks.cancel",
    "tasks.requests",
    "tasks.requests.sampling",
    "tasks.requests.sampling.createMessage",
    "tasks.requests.elicitation",
    "tasks.requests.elicitation.create",
  ].map((path) => optional(object(path))),
  ...["experimental", "extensions"].map((path) =>
    optional(parameter([path], "be an object whose values are objects", every(isObject))),
  ),
  optional(boolean("roots.listChanged")),
  optional(boolean("elicitation.form.applyDefaults")),
];

/** The types of the parameters of every request that a client may send. */
const METHODS: Readonly<Record<string, Method>> = {
  initialize: inLegacy(
    string("protocolVersion"),
    object("capabilities"),
    ...below(["capabilities"], CAPABILITIES),
    object("clientInfo"),
    ...below(["clientInfo"], IMPLEMENTATION),
  ),
  "tools/list": inBothEras(optional(string("cursor"))),
  "resources/list": inBothEras(optional(string("cursor"))),
  "resources/templates/list": inBothEras(optional(string("cursor"))),
  "prompts/list": inBothEras(optional(string("cursor"))),
  "skills/list": inBothEras(optional(string("cursor"))),
  "skills/get": inBothEras(...uri("uri")),
  "tools/call": withRetry(
    string("name"),
    optional(object("arguments")),
    optional(object("task")),
    optional(parameter(["task", "ttl"], "be a number", (value) => typeof value === "number")),
  ),
  "prompts/get": withRetry(string("name"), optional(strings("arguments"))),
  "resources/read": withRetry(...uri("uri")),
  "resources/subscribe": inLegacy(...uri("uri")),
  "resources/unsubscribe": inLegacy(...uri("uri")),
  "logging/setLevel": inLegacy(level(["level"])),
  "completion/complete": inBothEras(
    parameter(
      ["ref"],
      'be {"type":"ref/prompt","name":string} or {"type":"ref/resource","uri":string}',
      (value) =>
        isObject(value) &&
        ((value.type === "ref/prompt" && isString(value.name)) ||
          (value.type === "ref/resource" && isString(value.uri))),
    ),
    object("argument"),
    string("argument.name"),
    string("argument.value"),
    atMost("argument.value", MAX_ARGUMENT_CHARS, "characters"),
    optional(object("context")),
    optional(strings("context.arguments")),
  ),
  "subscriptions/listen": inModern(
    object("notifications"),
    optional(boolean("notifications.toolsListChanged")),
    optional(boolean("notifications.promptsListChanged")),
    optional(boolean("notifications.resourcesListChanged")),
    atMost("notifications.resourceSubscriptions", MAX_URIS, "entries"),
    optional(
      parameter(
        at("notifications.resourceSubscriptions"),
        "be an array of strings",
        (value) => Array.isArray(value) && value.every(isString),
      ),
    ),
  ),
};

/** The envelope of every modern request (MCP 2026-07-28, "Per-request protocol fields"). */
const ENVELOPE: readonly Parameter[] = [
  parameter(["_meta", META.version], "be a string", isString),
  parameter(["_meta", META.capabilities], "be an object", isObject),
  ...below(["_meta", META.capabilities], CAPABILITIES),
  optional(parameter(["_meta", META.clientInfo], "be an object", isObject)),
  optional(level(["_meta", META.logLevel])),
];

/**
 * A problem in the types of a request's parameters; undefined if there is none, or if this era has no such method
 * (another error applies). Unknown cursors, tools and URIs are left to the handlers.
 *
 * Optional parameters that are null are removed, since many JSON libraries write an absent member as null. Arguments of
 * tools and prompts are unchanged.
 */
export function requestProblem(
  { method, params }: Pick<RequestMessage, "method" | "params">,
  era: Era,
): RpcError | undefined {
  const rows = parametersOf(method, era);
  for (const { path, optional: mayLack } of rows) {
    const name = path.at(-1);
    if (!mayLack || name === undefined || valueAt(params, path) !== null) continue;
    const parent = valueAt(params, path.slice(0, -1));
    if (isObject(parent)) delete parent[name];
  }
  const found = problemOf(method, params, rows);
  return found === undefined ? undefined : invalidParams(found.sentence);
}

/** A problem in the envelope of a modern request: the key of `_meta`, and a sentence. */
export function envelopeProblem(
  method: string,
  params: unknown,
): { readonly key: string; readonly sentence: string } | undefined {
  const info = valueAt(params, ["_meta", META.clientInfo]);
  const rows =
    info === undefined ? ENVELOPE : [...ENVELOPE, ...below(["_meta", META.clientInfo], IMPLEMENTATION)];
  const found = problemOf(method, params, rows);
  return found === undefined ? undefined : { key: found.path[1] ?? "_meta", sentence: found.sentence };
}

function problemOf(method: string, params: unknown, rows: readonly Parameter[]) {
  for (const { path, must, fits, optional: mayLack, shown = show } of rows) {
    const value = valueAt(params, path);
    if ((value === undefined && mayLack) || fits(value)) continue;
    const name = `params${path.map((key) => (/^\w+$/.test(key) ? `.${key}` : `["${key}"]`)).join("")}`;
    const found = value === undefined ? "is missing; it" : "";
    const not = value === undefined ? "" : `, not ${shown(value)}`;
    return {
      path,
      sentence: `${clip(method, MAX_SHOWN)}: ${[name, found, "must", must].filter(Boolean).join(" ")}${not}.`,
    };
  }
  return undefined;
}

function parametersOf(method: string, era: Era): readonly Parameter[] {
  return (Object.hasOwn(METHODS, method) ? METHODS[method]?.[era] : undefined) ?? [];
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  let found = value;
  for (const key of path) found = isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  return found;
}
