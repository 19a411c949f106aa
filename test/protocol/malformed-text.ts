import {
  type Group,
  INVALID_REQUEST,
  nested,
  PARSE_ERROR,
  refused,
  silent,
} from "./malformed-case.ts";

/** Lines of UTF-8 that are not JSON, and empty lines. */
export const badJson: Group = () => [
  refused("no JSON at all", "hello", PARSE_ERROR),
  refused("an HTTP request", "POST /mcp HTTP/1.1", PARSE_ERROR),
  refused("an open brace", "{", PARSE_ERROR),
  refused("a request cut off", '{"jsonrpc":"2.0","id":1,"method":"ping"', PARSE_ERROR),
  refused("a trailing comma", '{"jsonrpc":"2.0","id":1,"method":"ping",}', PARSE_ERROR),
  refused("single quotes", "{'jsonrpc':'2.0','id':1,'method':'ping'}", PARSE_ERROR),
  refused("a comment", '{"jsonrpc":"2.0","id":1,"method":"ping"} // now', PARSE_ERROR),
  refused(
    "two messages on a line",
    '{"jsonrpc":"2.0","method":"a"}{"jsonrpc":"2.0","method":"b"}',
    PARSE_ERROR,
  ),
  refused("NaN", '{"jsonrpc":"2.0","id":NaN,"method":"ping"}', PARSE_ERROR),
  refused(
    "an integer with a leading zero",
    '{"jsonrpc":"2.0","id":01,"method":"ping"}',
    PARSE_ERROR,
  ),
  refused("a raw tab in a string", '{"jsonrpc":"2.0","id":"a\tb","method":"ping"}', PARSE_ERROR),
  refused("a NUL character", '\u0000{"jsonrpc":"2.0","id":1,"method":"ping"}', PARSE_ERROR),
  refused(
    "a byte order mark in the middle",
    '\ufeff{"jsonrpc":"2.0","id":1,"method":"ping"}',
    PARSE_ERROR,
  ),
  refused("half an escape", '{"jsonrpc":"2.0","id":"\\ud8","method":"ping"}', PARSE_ERROR),
  refused("brackets that never close", "[".repeat(30_000), PARSE_ERROR),
  silent("an empty line", ""),
  silent("blanks", "   \t "),
  silent("a carriage return", "\r"),
];

const bytes = (...parts: (string | number[])[]): Uint8Array =>
  Buffer.concat(
    parts.map((part) => Buffer.from(typeof part === "string" ? Buffer.from(part) : part)),
  );
const around = (invalid: number[]): Uint8Array =>
  bytes('{"jsonrpc":"2.0","id":"', invalid, '","method":"ping"}');

/** Lines that are not UTF-8. */
export const badBytes: Group = () => [
  refused("a byte that UTF-8 never has", around([0xff]), PARSE_ERROR),
  refused("a lone continuation byte", around([0x80]), PARSE_ERROR),
  refused("a character cut off", around([0xe2, 0x82]), PARSE_ERROR),
  refused("an overlong slash", around([0xc0, 0xaf]), PARSE_ERROR),
  refused("a surrogate in bytes", around([0xed, 0xa0, 0x80]), PARSE_ERROR),
  refused("a code point beyond Unicode", around([0xf4, 0x90, 0x80, 0x80]), PARSE_ERROR),
  refused("UTF-16", Buffer.from('{"jsonrpc":"2.0"}', "utf16le"), PARSE_ERROR),
];

/** Longer than a message may be. */
const OVER_LIMIT = "x".repeat(16 * 1_048_576);

/** JSON that is not a message; an array is one only in 2025-03-26. */
export const notMessages: Group = (write, revision) => {
  const hasBatches = revision === "2025-03-26";
  const long = { ...write("tools/list"), params: { x: OVER_LIMIT } };
  return [
    ...["null", "true", "42", '"ping"'].map((json) => refused(json, json, INVALID_REQUEST)),
    refused("an empty object", "{}", INVALID_REQUEST),
    refused("an empty array", "[]", INVALID_REQUEST),
    refused("an array of numbers", "[1,2,3]", INVALID_REQUEST, hasBatches ? 3 : 1),
    refused("an array in an array", "[[]]", INVALID_REQUEST),
    refused("an array of 15,000 levels", nested(15_000), INVALID_REQUEST),
    refused(
      "an object with strange keys",
      '{"__proto__":{"jsonrpc":"2.0"},"constructor":1}',
      INVALID_REQUEST,
    ),
    refused("a line over the limit", `{"x":"${OVER_LIMIT}"}`, INVALID_REQUEST),
    // Its id is not read, so the answer has none.
    refused("a request over the limit", JSON.stringify(long), INVALID_REQUEST),
  ];
};
