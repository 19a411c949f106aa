import { clip, digits } from "@refmcp/boundary/answer";
import { isLoggingLevel, LOGGING_LEVELS } from "../define/content.ts";
import { invalidParams } from "./errors.ts";
import { isObject, MAX_SHOWN, MAX_URI_CHARS, show } from "./message.ts";
import { META, type Params, type RequestMessage } from "./wire.ts";

/** What a parameter must be: the end of the sentence "params.<path> must …", and its check. */
interface Check {
  readonly must: string;
  readonly fits: (value: unknown) => boolean;
}

/** The checks of parameters by path, its keys separated by spaces; `?` marks an optional parameter. */
type Table = Readonly<Record<string, Check>>;

const isString = (value: unknown): boolean => typeof value === "string";
const STRING: Check = { must: "be a string", fits: isString };
const text = (max: number): Check => ({
  must: `be a string of at most ${digits(max)} characters`,
  fits: (value) => typeof value === "string" && value.length <= max,
});
const OBJECT: Check = { must: "be an object", fits: isObject };
const objectOf = (valueText: string, fits: Check["fits"]): Check => ({
  must: `be an object whose values are ${valueText}`,
  fits: (value) => isObject(value) && Object.values(value).every(fits),
});
const BOOLEAN: Check = { must: "be true or false", fits: (value) => typeof value === "boolean" };
const NUMBER: Check = { must: "be a number", fits: (value) => typeof value === "number" };
const LEVEL: Check = { must: `be one of ${LOGGING_LEVELS.join(", ")}`, fits: isLoggingLevel };
/** Maximum length of a prompt's argument; the prompt may repeat it. */
const ARGUMENT = text(20_000);
const ARGUMENTS = objectOf("strings of at most 20,000 characters", ARGUMENT.fits);
/** The URIs that one request names. */
const NAMES: Check = {
  must: "be an array of at most 1,000 strings",
  fits: (value) => Array.isArray(value) && value.length <= 1_000 && value.every(isString),
};

/** `Implementation`: the client's name and version. */
const CLIENT: Check = {
  must: 'be an object with "name" and "version", strings',
  fits: (value) => isObject(value) && isString(value.name) && isString(value.version),
};
/** `ClientCapabilities`, of all revisions. */
const CAPABILITIES = objectOf("objects", isObject);
const PAGE: Table = { "cursor?": STRING };
const URI: Table = { uri: text(MAX_URI_CHARS) };
const TASK: Table = { taskId: text(MAX_SHOWN) };
/** A method that may return `input_required`; the retry contains the client's answers. */
const RETRY: Table = { "inputResponses?": OBJECT, "requestState?": STRING };

/** The parameters of every request that a client may send. */
const TABLES: Readonly<Record<string, Table>> = {
  initialize: { protocolVersion: STRING, capabilities: OBJECT, clientInfo: CLIENT },
  "tools/list": PAGE,
  "resources/list": PAGE,
  "resources/templates/list": PAGE,
  "prompts/list": PAGE,
  "tools/call": {
    name: STRING,
    "arguments?": OBJECT,
    "task?": OBJECT,
    "task ttl?": NUMBER,
    ...RETRY,
  },
  "prompts/get": { name: STRING, "arguments?": ARGUMENTS, ...RETRY },
  "resources/read": { ...URI, ...RETRY },
  "tasks/get": TASK,
  "tasks/update": { ...TASK, inputResponses: OBJECT },
  "tasks/cancel": TASK,
  "tasks/result": TASK,
  "resources/subscribe": URI,
  "resources/unsubscribe": URI,
  "logging/setLevel": { level: LEVEL },
  "completion/complete": {
    ref: {
      must: 'be {"type":"ref/prompt","name":string} or {"type":"ref/resource","uri":string}',
      fits: (value) =>
        isObject(value) &&
        ((value.type === "ref/prompt" && isString(value.name)) ||
          (value.type === "ref/resource" && isString(value.uri))),
    },
    argument: OBJECT,
    "argument name": STRING,
    "argument value": ARGUMENT,
    "context?": OBJECT,
    "context arguments?": ARGUMENTS,
  },
  "subscriptions/listen": {
    notifications: OBJECT,
    "notifications toolsListChanged?": BOOLEAN,
    "notifications promptsListChanged?": BOOLEAN,
    "notifications resourcesListChanged?": BOOLEAN,
    "notifications resourceSubscriptions?": NAMES,
  },
};

interface Parameter extends Check {
  /** The object in `params` that it belongs to, if any. */
  readonly parent: string | undefined;
  readonly key: string;
  readonly isOptional: boolean;
}

const rowsOf = (table: Table): Parameter[] =>
  Object.entries(table).map(([name, { must, fits }]) => {
    const [key = "", parent] = name.replace("?", "").split(" ").reverse();
    return { must, fits, parent, key, isOptional: name.endsWith("?") };
  });

const METHODS = new Map(Object.entries(TABLES).map(([method, table]) => [method, rowsOf(table)]));

/** The envelope of every modern request (MCP 2026-07-28, "Per-request protocol fields"). */
const ENVELOPE = rowsOf({
  [`_meta ${META.version}`]: STRING,
  [`_meta ${META.capabilities}`]: CAPABILITIES,
  [`_meta ${META.clientInfo}?`]: CLIENT,
  [`_meta ${META.logLevel}?`]: LEVEL,
});

/**
 * A problem in the types of a request's parameters; undefined if there is none. Unknown cursors, tools and URIs are left
 * to the handlers.
 */
export function requestProblem({ method, params }: Pick<RequestMessage, "method" | "params">) {
  return problemOf(method, params, METHODS.get(method));
}

/** A problem in the envelope of a modern request. */
export function envelopeProblem({ method, params }: Pick<RequestMessage, "method" | "params">) {
  return problemOf(method, params, ENVELOPE);
}

function problemOf(method: string, params: Params = {}, rows: readonly Parameter[] = []) {
  for (const { parent, key, must, fits, isOptional } of rows) {
    const object = parent === undefined ? params : params[parent];
    const value: unknown = Object(object)[key];
    if (value === undefined ? isOptional : fits(value)) continue;
    const path = parent === undefined ? [key] : [parent, key];
    const name = path.map((part) => (/^\w+$/.test(part) ? `.${part}` : `["${part}"]`)).join("");
    const verb = value === undefined ? "is missing; it must" : "must";
    const gotText =
      value === undefined || (isObject(value) && must.includes("object"))
        ? ""
        : `, not ${show(value)}`;
    return invalidParams(`${clip(method, MAX_SHOWN)}: params${name} ${verb} ${must}${gotText}.`);
  }
  return undefined;
}
