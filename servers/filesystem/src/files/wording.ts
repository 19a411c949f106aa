import { grouped } from "@refmcp/core/answer";

/** A number with its noun: `1 file`, `2,000 files`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}
