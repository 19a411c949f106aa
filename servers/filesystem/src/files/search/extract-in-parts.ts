import type { ExtractWork } from "../threads/files.worker.ts";
import type { ThreadPool } from "../threads/thread-pool.ts";
import type { Extract } from "./line-extract.ts";

/** Files from this size on are searched by all threads at once. */
const MIN_BYTES = 8 * 1024 * 1024;

/**
 * The matching lines of a file. If all of a large file is searched, each thread searches a part of it.
 *
 * @param size of the file in bytes.
 * @throws what `ThreadPool.run` throws, after all threads have finished.
 */
export async function extractInParts(
  pool: ThreadPool,
  work: ExtractWork,
  size: number,
  signal: AbortSignal,
): Promise<Extract> {
  const { total, from, context, limit } = work.extract;
  const isDivided = size >= MIN_BYTES && total && from === 1 && context === 0 && pool.width > 1;
  if (!isDivided) return pool.run("extract", work, signal);
  const length = Math.ceil(size / pool.width);
  const runs = Array.from({ length: pool.width }, (_, index) => {
    const isLast = index === pool.width - 1;
    const range = {
      start: index * length,
      end: isLast ? Number.MAX_SAFE_INTEGER : (index + 1) * length,
    };
    return pool.run(
      "extract",
      { ...work, range, extract: { ...work.extract, numbered: true } },
      signal,
    );
  });
  // All have ended before the caller closes the file.
  await Promise.allSettled(runs);
  const whole = { lines: [] as Extract["lines"], more: false, total: 0, count: 0 };
  for (const part of await Promise.all(runs)) {
    if (part.binary) return part;
    const before = whole.count;
    whole.lines.push(...part.lines.map((found) => ({ ...found, line: found.line + before })));
    whole.more ||= part.more;
    whole.total += part.total;
    whole.count += part.count;
  }
  whole.more ||= whole.lines.length > limit;
  return { ...whole, lines: whole.lines.slice(0, limit) };
}
