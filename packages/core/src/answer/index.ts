export { type ErrorKind, nearest, ToolError, type ToolErrorOptions } from "./errors.ts";
