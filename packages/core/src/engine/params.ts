import { clip, grouped } from "@refmcp/boundary/answer";
import { isLoggingLevel, LOGGING_LEVELS } from "../define/content.ts";
import { invalidParams } from "./errors.ts";
import { isObject, MAX_SHOWN, MAX_URI_CHARS, show } from "./message.ts";
import { type Era, META, type RequestMessage, type RpcError } from "./wire.ts";

/** What a parameter must be: the end of the sentence "params.<path> must …", and its check. */
interface Check {
  readonly must: string;
  readonly fits: (value: unknown) => boolean;
  /** A limit, which holds for an absent value; another check requires the type. */
  readonly optional?: true;
  /** How the message shows the value, if its type is not enough. */
  readonly shown?: (value: unknown) => string;
}

/** The checks of parameters by path, its keys separated by spaces; `?` marks an optional parameter. */
type Table = Readonly<Record<string, Check | readonly Check[]>>;

const isString = (value: unknown): boolean => typeof value === "string";
const every = (fits: Check["fits"]) => (value: unknown) =>
  isObject(value) && Object.values(value).every(fits);

const STRING: Check = { must: "be a string", fits: isString };
const OBJECT: Check = { must: "be an object", fits: isObject };
const OBJECTS: Check = { must: "be an object whose values are objects", fits: every(isObject) };
const BOOLEAN: Check = { must: "be true or false", fits: (value) => typeof value === "boolean" };
const NUMBER: Check = { must: "be a number", fits: (value) => typeof value === "number" };
const LEVEL: Check = { must: `be one of ${LOGGING_LEVELS.join(", ")}`, fits: isLoggingLevel };
/** Maximum length of a prompt's argument; the prompt may repeat it. */
const MAX_ARGUMENT_CHARS = 20_000;
const STRINGS: Check = {
  must: `be an object whose values are strings of at most ${grouped(MAX_ARGUMENT_CHARS)} characters`,
  fits: every((value) => typeof value === "string" && value.length <= MAX_ARGUMENT_CHARS),
};
const lengthOf = (value: unknown): number =>
  typeof value === "string" || Array.isArray(value) ? value.length : 0;
const atMost = (max: number, unit: string): Check => ({
  must: `have at most ${grouped(max)} ${unit}`,
  fits: (value) => lengthOf(value) <= max,
  optional: true,
  shown: (value) => grouped(lengthOf(value)),
});

const below = (prefix: string, table: Table): Table =>
  Object.fromEntries(Object.entries(table).map(([path, checks]) => [`${prefix} ${path}`, checks]));
const inBothEras = (table: Table) => ({ legacy: table, modern: table });
/** A method that may return `input_required`; the retry contains the client's answers. */
const withRetry = (table: Table) => ({
  legacy: table,
  modern: { ...table, "inputResponses?": OBJECT, "requestState?": STRING },
});

/** How many URIs or tasks one request may name. */
const MAX_URIS = 1_000;
const URI: Table = { uri: [STRING, atMost(MAX_URI_CHARS, "characters")] };
const TASK: Table = { taskId: [STRING, atMost(MAX_SHOWN, "characters")] };
const PAGE = inBothEras({ "cursor?": STRING });

const LIST: readonly Check[] = [
  atMost(MAX_URIS, "entries"),
  {
    must: "be an array of strings",
    fits: (value) => Array.isArray(value) && value.every(isString),
  },
];

/** `Implementation`: the client's name and version. */
const IMPLEMENTATION: Table = {
  name: STRING,
  version: STRING,
  "title?": STRING,
  "description?": STRING,
  "websiteUrl?": STRING,
  "icons?": {
    must: 'be an array of objects, each with "src", a string',
    fits: (value) =>
      Array.isArray(value) && value.every((icon) => isObject(icon) && isString(icon.src)),
  },
};

/** `ClientCapabilities`, of all revisions. */
const CAPABILITIES: Table = {
  "roots?": OBJECT,
  "sampling?": OBJECT,
  "sampling context?": OBJECT,
  "sampling tools?": OBJECT,
  "elicitation?": OBJECT,
  "elicitation form?": OBJECT,
  "elicitation url?": OBJECT,
  "tasks?": OBJECT,
  "tasks list?": OBJECT,
  "tasks cancel?": OBJECT,
  "tasks requests?": OBJECT,
  "tasks requests sampling?": OBJECT,
  "tasks requests sampling createMessage?": OBJECT,
  "tasks requests elicitation?": OBJECT,
  "tasks requests elicitation create?": OBJECT,
  "experimental?": OBJECTS,
  "extensions?": OBJECTS,
  "roots listChanged?": BOOLEAN,
  "elicitation form applyDefaults?": BOOLEAN,
};

/** The parameters of every request that a client may send, by era; an era without the method is absent. */
const TABLES: Readonly<Record<string, { readonly [E in Era]?: Table }>> = {
  initialize: {
    legacy: {
      protocolVersion: STRING,
      capabilities: OBJECT,
      ...below("capabilities", CAPABILITIES),
      clientInfo: OBJECT,
      ...below("clientInfo", IMPLEMENTATION),
    },
  },
  "tools/list": PAGE,
  "resources/list": PAGE,
  "resources/templates/list": PAGE,
  "prompts/list": PAGE,
  "skills/list": PAGE,
  "skills/get": inBothEras(URI),
  "tools/call": withRetry({
    name: STRING,
    "arguments?": OBJECT,
    "task?": OBJECT,
    "task ttl?": NUMBER,
  }),
  "prompts/get": withRetry({ name: STRING, "arguments?": STRINGS }),
  "resources/read": withRetry(URI),
  "tasks/get": inBothEras(TASK),
  "tasks/update": { modern: { ...TASK, inputResponses: OBJECT } },
  "tasks/cancel": inBothEras(TASK),
  "tasks/result": { legacy: TASK },
  "resources/subscribe": { legacy: URI },
  "resources/unsubscribe": { legacy: URI },
  "logging/setLevel": { legacy: { level: LEVEL } },
  "completion/complete": inBothEras({
    ref: {
      must: 'be {"type":"ref/prompt","name":string} or {"type":"ref/resource","uri":string}',
      fits: (value) =>
        isObject(value) &&
        ((value.type === "ref/prompt" && isString(value.name)) ||
          (value.type === "ref/resource" && isString(value.uri))),
    },
    argument: OBJECT,
    "argument name": STRING,
    "argument value": [STRING, atMost(MAX_ARGUMENT_CHARS, "characters")],
    "context?": OBJECT,
    "context arguments?": STRINGS,
  }),
  "subscriptions/listen": {
    modern: {
      notifications: OBJECT,
      "notifications toolsListChanged?": BOOLEAN,
      "notifications promptsListChanged?": BOOLEAN,
      "notifications resourcesListChanged?": BOOLEAN,
      "notifications resourceSubscriptions?": LIST,
      "notifications taskIds?": LIST,
    },
  },
};

interface Parameter extends Check {
  readonly path: readonly string[];
}

const rowsOf = (table: Table): Parameter[] =>
  Object.entries(table).flatMap(([name, checks]) => {
    const path = name.replace("?", "").split(" ");
    return [checks]
      .flat()
      .map((check) => ({ path, ...check, ...(name.endsWith("?") && { optional: true }) }));
  });

const METHODS = new Map(
  Object.entries(TABLES).map(([method, { legacy = {}, modern = {} }]) => {
    return [method, { legacy: rowsOf(legacy), modern: rowsOf(modern) }];
  }),
);

/** The envelope of every modern request (MCP 2026-07-28, "Per-request protocol fields"). */
const ENVELOPE = rowsOf({
  [`_meta ${META.version}`]: STRING,
  [`_meta ${META.capabilities}`]: OBJECT,
  ...below(`_meta ${META.capabilities}`, CAPABILITIES),
  [`_meta ${META.clientInfo}?`]: OBJECT,
  [`_meta ${META.logLevel}?`]: LEVEL,
});
const CLIENT_INFO = rowsOf(below(`_meta ${META.clientInfo}`, IMPLEMENTATION));

/**
 * A problem in the types of a request's parameters; undefined if there is none, or if this era has no such method
 * (another error applies). Unknown cursors, tools and URIs are left to the handlers.
 */
export function requestProblem(
  { method, params }: Pick<RequestMessage, "method" | "params">,
  era: Era,
): RpcError | undefined {
  const rows = METHODS.get(method)?.[era];
  const problem = rows === undefined ? undefined : problemOf(method, params, rows);
  return problem === undefined ? undefined : invalidParams(problem.sentence);
}

/** A problem in the envelope of a modern request: the key of `_meta`, and a sentence. */
export function envelopeProblem(
  method: string,
  params: unknown,
): { readonly key: string; readonly sentence: string } | undefined {
  const info = valueAt(params, ["_meta", META.clientInfo]);
  const found =
    problemOf(method, params, ENVELOPE) ??
    (info === undefined ? undefined : problemOf(method, params, CLIENT_INFO));
  return found === undefined
    ? undefined
    : { key: found.path[1] ?? "_meta", sentence: found.sentence };
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

function valueAt(value: unknown, path: readonly string[]): unknown {
  let found = value;
  for (const key of path)
    found = isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  return found;
}
