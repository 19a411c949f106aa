export { clip, fitting, grouped, HARD_ANSWER_CHARS, largeAnswers, sized } from "./budget.ts";
export { type CursorCodec, cursorsOf } from "./cursor.ts";
export { type ErrorKind, nearest, ToolError, type ToolErrorOptions } from "./errors.ts";
export { isJson, JsonText } from "./json-text.ts";
export { cleanText, manyLines, oneLine, visibleJson } from "./untrusted.ts";
