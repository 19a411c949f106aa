import { invalidParams, isObject, type RpcError, show } from "./jsonrpc.ts";

/** A parameter of a method: where it stands below `params`, and what it has to be. */
interface Parameter {
  readonly path: readonly string[];
  /** Completes the sentence "params.<path> must …". */
  readonly must: string;
  readonly fits: (value: unknown) => boolean;
  readonly optional?: true;
}

/** The parameters of a method by era; an era that has no such method is left out. */
interface Method {
  readonly legacy?: readonly Parameter[];
  readonly modern?: readonly Parameter[];
}

const isString = (value: unknown): boolean => typeof value === "string";
const areStrings = (value: unknown): boolean => isObject(value) && Object.values(value).every(isString);

const LOG_LEVELS: readonly unknown[] = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
];

const parameter = (path: string, must: string, fits: Parameter["fits"]): Parameter => ({
  path: path.split("."),
  must,
  fits,
});
const string = (path: string): Parameter => parameter(path, "be a string", isString);
const object = (path: string): Parameter => parameter(path, "be an object", isObject);
const boolean = (path: string): Parameter =>
  parameter(path, "be true or false", (value) => typeof value === "boolean");
const strings = (path: string): Parameter =>
  parameter(path, "be an object whose values are strings", areStrings);
const optional = (required: Parameter): Parameter => ({ ...required, optional: true });

const inBothEras = (...parameters: Parameter[]): Method => ({ legacy: parameters, modern: parameters });
const inLegacy = (...parameters: Parameter[]): Method => ({ legacy: parameters });
const inModern = (...parameters: Parameter[]): Method => ({ modern: parameters });
/** A method that may answer `input_required`; the client's answers come with the next try. */
const withRetry = (...parameters: Parameter[]): Method => ({
  legacy: parameters,
  modern: [...parameters, optional(object("inputResponses")), optional(string("requestState"))],
});

/**
 * The parameters of every request that a client may send, as far as their types go. SDK 2.4 answers a wrong one
 * with -32603 (-32602 for `tools/call`) and its validator's dump.
 */
const METHODS: Readonly<Record<string, Method>> = {
  initialize: inLegacy(
    string("protocolVersion"),
    object("capabilities"),
    object("clientInfo"),
    string("clientInfo.name"),
    string("clientInfo.version"),
    ...["title", "description", "websiteUrl"].map((name) => optional(string(`clientInfo.${name}`))),
    optional(parameter("clientInfo.icons", "be an array", Array.isArray)),
    ...["experimental", "roots", "sampling", "elicitation", "tasks"].map((name) =>
      optional(object(`capabilities.${name}`)),
    ),
    optional(boolean("capabilities.roots.listChanged")),
  ),
  "tools/list": inBothEras(optional(string("cursor"))),
  "resources/list": inBothEras(optional(string("cursor"))),
  "resources/templates/list": inBothEras(optional(string("cursor"))),
  "prompts/list": inBothEras(optional(string("cursor"))),
  "tools/call": withRetry(string("name"), optional(object("arguments"))),
  "prompts/get": withRetry(string("name"), optional(strings("arguments"))),
  "resources/read": withRetry(string("uri")),
  "resources/subscribe": inLegacy(string("uri")),
  "resources/unsubscribe": inLegacy(string("uri")),
  "logging/setLevel": inLegacy(
    parameter("level", `be one of ${LOG_LEVELS.join(", ")}`, (value) => LOG_LEVELS.includes(value)),
  ),
  "completion/complete": inBothEras(
    parameter(
      "ref",
      'be {"type":"ref/prompt","name":string} or {"type":"ref/resource","uri":string}',
      (value) =>
        isObject(value) &&
        ((value.type === "ref/prompt" && isString(value.name)) ||
          (value.type === "ref/resource" && isString(value.uri))),
    ),
    object("argument"),
    string("argument.name"),
    string("argument.value"),
    optional(object("context")),
    optional(strings("context.arguments")),
  ),
  "subscriptions/listen": inModern(
    object("notifications"),
    optional(boolean("notifications.toolsListChanged")),
    optional(boolean("notifications.promptsListChanged")),
    optional(boolean("notifications.resourcesListChanged")),
    optional(
      parameter(
        "notifications.resourceSubscriptions",
        "be an array of strings",
        (value) => Array.isArray(value) && value.every(isString),
      ),
    ),
  ),
};

/**
 * Removes the optional parameters of a request that are null: many JSON libraries write an absent member so. Arguments of
 * tools and prompts are the author's and stay unchanged.
 */
export function dropNulls(method: string, params: unknown, era: "legacy" | "modern"): void {
  for (const { path, optional: mayLack } of parametersOf(method, era)) {
    const parent = at(params, path.slice(0, -1));
    const name = path.at(-1);
    if (mayLack && name !== undefined && isObject(parent) && parent[name] === null) delete parent[name];
  }
}

/**
 * What is wrong with the parameters of a request, as one sentence; undefined where their types fit, or where this
 * era has no such method (then the answer is another one).
 *
 * It looks at types only: an unknown cursor, tool or URI is the business of those who know them.
 */
export function paramProblem(method: string, params: unknown, era: "legacy" | "modern"): string | undefined {
  for (const { path, must, fits, optional: mayLack } of parametersOf(method, era)) {
    const value = at(params, path);
    if (value === undefined && mayLack) continue;
    if (fits(value)) continue;
    const name = `params.${path.join(".")}`;
    if (value === undefined) return `${method}: ${name} is missing; it must ${must}.`;
    return `${method}: ${name} must ${must}, not ${show(value)}.`;
  }
  return undefined;
}

function parametersOf(method: string, era: "legacy" | "modern"): readonly Parameter[] {
  return (Object.hasOwn(METHODS, method) ? METHODS[method]?.[era] : undefined) ?? [];
}

function at(value: unknown, path: readonly string[]): unknown {
  let found = value;
  for (const key of path) found = isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  return found;
}

const DUMP = /^(?:Invalid \S+ request: )?(\[\s*\{.*\])$/s;

/**
 * An error as it may go to the client. What lies deeper than the table above (a capability's member, a client's
 * icon) the SDK's schemas refuse, with the validator's issues as JSON: that becomes -32602 and a sentence. Every
 * other error comes back as it is.
 */
export function withoutDump(error: RpcError): RpcError {
  const dump = DUMP.exec(error.message)?.[1];
  const issues = dump === undefined ? undefined : parsed(dump);
  if (!Array.isArray(issues)) return error;
  const problems: string[] = [];
  for (const issue of issues) {
    // Other paths come from elsewhere, for example from a handler's own validation: not the client's fault.
    if (!isObject(issue) || !Array.isArray(issue.path) || issue.path[0] !== "params") return error;
    problems.push(
      `${issue.path.join(".")}: ${typeof issue.message === "string" ? issue.message : "does not fit"}`,
    );
  }
  return invalidParams(`${problems.slice(0, 5).join("; ")}.`);
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
