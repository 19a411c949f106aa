export type { ClientRoot } from "@refmcp/boundary";
export type { Call } from "./define/call.ts";
export type { Annotations, PromptMessage } from "./define/content.ts";
export type { Effect } from "./define/effect.ts";
export { defineOptions, type OptionTable, type OptionValues } from "./define/options.ts";
export { type Prompt, promptFor } from "./define/prompt.ts";
export { type ListedResource, type Resource, resourceFor } from "./define/resource.ts";
export {
  type AnyServer,
  defineServer,
  type OpenArguments as Opening,
  type ServerDefinition,
} from "./define/server.ts";
export { type Content, type Link, type Tool, toolFor, withLinks } from "./define/tool.ts";
export { Caller, type Send } from "./engine/caller.ts";
export { Engine } from "./engine/engine.ts";
export type { Service } from "./engine/service.ts";
export type { Log } from "./log.ts";
export { bind } from "./run/prepare.ts";
export { serveHttp } from "./transport/http.ts";
export { serveStdio } from "./transport/stdio/stdio.ts";
export { protectStdout } from "./transport/stdio/stdout.ts";
