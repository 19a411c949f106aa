export {
  clip,
  countOf,
  digits,
  fitCount,
  HARD_ANSWER_CHARS,
  largeAnswers,
  MAX_SHOWN_CHARS,
  shorten,
  sizeOf,
} from "./budget.ts";
export { type CursorCodec, cursorsOf, type StateCheck } from "./cursor.ts";
export {
  type ErrorKind,
  type ErrorTable,
  errorCode,
  errorsOf,
  nearest,
  reasonOf,
  suggestion,
  ToolError,
  type ToolErrorOptions,
} from "./errors.ts";
export { isJson, JsonText } from "./json-text.ts";
export { shareAcrossBundles } from "./shared-class.ts";
export { cleanText, manyLines, oneLine, visibleJson } from "./untrusted.ts";
