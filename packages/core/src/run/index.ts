// Starting a server, and what programs need that start or compose servers in their own way. What a start does not need is
// loaded when it is used, because a bundle loads everything that this file exports.

import type { AnyServer, Outline } from "../define/server.ts";

export { unknownName } from "../bind/arguments.ts";
export type { Runtime } from "../bind/runtime.ts";
export { serviceOf } from "../bind/server.ts";
export { commonOptions, directoryOptions } from "../define/common-options.ts";
export { EFFECTS } from "../define/effect.ts";
export type { Option } from "../define/options.ts";
export { type AnyServable, type LazyServer, lazyServer, type Outline } from "../define/server.ts";
export { type Awaitable, DataAnswer } from "../define/tool.ts";
export {
  internalError,
  invalidParams,
  ProtocolError,
  refuseCursor,
  resourceNotFound,
} from "../engine/errors.ts";
export { isObject, show } from "../engine/message.ts";
export type { ClientRequest, Handler } from "../engine/request.ts";
export { type ListedTool, META, type ServerCapabilities } from "../engine/wire.ts";
export { createLog } from "../log.ts";
export { carryOptions, type Entry, type EntryVariable, type Launch } from "./entry.ts";
export { unknownNames } from "./option-messages.ts";
export {
  BadValue,
  optionEntries,
  readValue,
  type ServerOptions,
  serverOptions,
  variablePrefix,
} from "./options.ts";
export { type OptionsRead, parseOptions } from "./parse-options.ts";
export { type Program, runtimeOf, type Start } from "./prepare.ts";
export { run } from "./run.ts";
export { shellWord } from "./text-layout.ts";

/** The outline of a server, from which a bundle makes a `lazyServer`; serializable as JSON. */
export async function outlineOf(server: AnyServer): Promise<Outline> {
  return (await import("../bind/outline.ts")).outlineOf(server);
}
