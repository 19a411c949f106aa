import { type Fields, isFields } from "./revisions.ts";

/** A message with one value replaced or one member removed. */
interface Mutation {
  /** Where, and what was done: `result/tools/0/name: 5`. */
  readonly path: string;
  readonly message: unknown;
}

/** All ways to replace one value of a message with a value of another type. */
export function mutations(message: Fields): Mutation[] {
  return wrongTypes(message).slice(1);
}

function wrongTypes(value: unknown): Mutation[] {
  const inner = Array.isArray(value)
    ? value.flatMap((entry, index) =>
        wrongTypes(entry).map(({ path, message }) => ({
          path: `/${index}${path}`,
          message: value.map((other, at) => (at === index ? message : other)),
        })),
      )
    : isFields(value)
      ? Object.entries(value).flatMap(([key, member]) =>
          wrongTypes(member).map(({ path, message }) => ({
            path: `/${key}${path}`,
            message: { ...value, [key]: message },
          })),
        )
      : [];
  return [{ path: "", message: another(value) }, ...inner];
}

/** A value of another type that no union of the protocol allows instead. */
function another(value: unknown): unknown {
  if (typeof value === "object") return "wrong";
  return typeof value === "string" ? [5] : ["wrong"];
}
