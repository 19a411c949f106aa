import { grouped } from "@refmcp/boundary/answer";
import { invalidRequest, notJson } from "./errors.ts";
import { recoverId } from "./messages.ts";
import type { RequestId, RpcError } from "./wire.ts";

/**
 * Maximum values of a message: items of arrays and members of objects. Within the limit of bytes, a message could have
 * millions, each of which costs memory and work in everything that checks it.
 */
export const MAX_VALUES = 100_000;
/** How much of both ends of a message is searched for its id. */
const EDGE = 1_024;

/** A client's JSON, or why it is refused, and the id to answer with. */
export type Parsed =
  | { readonly value: unknown }
  | { readonly error: RpcError; readonly id?: RequestId | undefined };

/** Parses a message or a batch. Its values are counted before any of them is created. @param what it is, for errors. */
export function parseMessage(text: string, what = "message"): Parsed {
  if (hasTooManyValues(text))
    return {
      error: invalidRequest(
        `The ${what} has more than ${grouped(MAX_VALUES)} values (array items and object members). Split the request into several.`,
      ),
      id: recoverId(text.slice(0, EDGE), text.slice(-EDGE)),
    };
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { error: notJson(error, what) };
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const BRACKET = 0x5b;
const BRACE = 0x7b;

/** Counts the commas and opening brackets outside strings: at least one for every value but the first. */
function hasTooManyValues(text: string): boolean {
  if (text.length <= MAX_VALUES) return false;
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COMMA || code === BRACKET || code === BRACE) {
      values += 1;
      if (values > MAX_VALUES) return true;
    }
  }
  return false;
}

/** Where the string that begins at `start` ends; the end of the text if it does not. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slash = end;
    while (text.charCodeAt(slash - 1) === BACKSLASH) slash -= 1;
    if ((end - slash) % 2 === 0) return end;
  }
  return text.length;
}
