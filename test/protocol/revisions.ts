/** The protocol revisions that core serves, oldest first. */
export const REVISIONS = [
  "2024-11-05",
  "2025-03-26",
  "2025-06-18",
  "2025-11-25",
  "2026-07-28",
] as const;
export type Revision = (typeof REVISIONS)[number];

/** The revision without a handshake: each request has its version and capabilities in `_meta`. */
export const MODERN = "2026-07-28" satisfies Revision;

export const LEGACY_REVISIONS = REVISIONS.filter((revision) => revision !== MODERN);

/** A JSON object. */
export type Fields = Record<string, unknown>;

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object at a path below `value`; empty if there is none. */
export function fieldsAt(value: unknown, ...path: string[]): Fields {
  let current = value;
  for (const key of path) current = isFields(current) ? current[key] : undefined;
  return isFields(current) ? current : {};
}

/** The objects of the array at a path below `value`. */
export function listAt(value: unknown, ...path: string[]): Fields[] {
  const key = path.at(-1);
  const list = key === undefined ? value : fieldsAt(value, ...path.slice(0, -1))[key];
  return Array.isArray(list) ? list.filter(isFields) : [];
}
