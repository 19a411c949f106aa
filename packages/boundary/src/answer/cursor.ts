import { crypto } from "../crypto.ts";
import { ToolError } from "./errors.ts";

/** Writes and reads the cursors of one list. */
export interface CursorCodec<State> {
  /** Returns the opaque text for `next_cursor`. */
  encode(state: State): string;
  /**
   * Returns the state in a cursor that this list issued; undefined without a cursor.
   *
   * @throws ToolError `invalid` for a damaged cursor or one that belongs to another list or query.
   */
  decode(cursor: string | undefined): State | undefined;
}

/** Validates the state in a cursor, for example a zod schema. */
export interface StateCheck<State> {
  safeParse(
    value: unknown,
  ): { readonly success: true; readonly data: State } | { readonly success: false };
}

/**
 * A codec for the cursors of `list` (the tool's name), bound to the arguments that determine the list: a
 * cursor is valid only for the query it came from. Cursors are self-contained (base64url JSON), contain no
 * secret and survive a restart of the server.
 *
 * @param query everything that must be the same on the next call (not `limit`).
 * @param state the cursor's content, validated when it comes back.
 */
export function cursorsOf<State>(
  list: string,
  query: unknown,
  state: StateCheck<State>,
): CursorCodec<State> {
  const key = crypto()
    .createHash("sha256")
    .update(JSON.stringify([list, query]))
    .digest("base64url")
    .slice(0, 12);
  return {
    encode: (value) => Buffer.from(JSON.stringify([key, value])).toString("base64url"),
    decode(cursor) {
      if (cursor === undefined) return undefined;
      const [owner, value] = parsePair(cursor);
      if (owner === undefined) {
        throw new ToolError(
          "invalid",
          `The cursor ${JSON.stringify(cursor.slice(0, 60))} is damaged.`,
          {
            hint: `Pass the next_cursor of ${list} unchanged, or omit cursor to start again.`,
          },
        );
      }
      const result = state.safeParse(value);
      if (owner !== key || !result.success) {
        throw new ToolError("invalid", `The cursor is from a different call, not this ${list}.`, {
          hint: "Repeat the call with the arguments that produced the cursor, or omit cursor to start again.",
        });
      }
      return result.data;
    },
  };
}

/** The owner's key and the state in a cursor; an undefined owner if the text is not a cursor. */
function parsePair(cursor: string): [owner: string | undefined, state: unknown] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    if (Array.isArray(value) && value.length === 2 && typeof value[0] === "string")
      return [value[0], value[1]];
  } catch {
    // Not base64url of JSON: reported as damaged below.
  }
  return [undefined, undefined];
}
