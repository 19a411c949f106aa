/**
 * Truncates the lists of a response to stay within the budget, and reports how many items are not shown. The change
 * is already saved at this point, so its echo may be truncated but must never fail.
 *
 * @param budget characters of JSON.
 */
export function bounded<Answer extends object>(
  answer: Answer,
  budget: number,
): Answer & { not_shown?: number } {
  let left = budget - 500;
  let cut = 0;
  const fits = (item: unknown) => {
    left -= JSON.stringify(item).length + 1;
    if (left < 0) cut += 1;
    return left >= 0;
  };
  const shown = structuredClone(answer);
  for (const value of Object.values(shown)) {
    if (Array.isArray(value)) value.splice(0, value.length, ...value.filter(fits));
  }
  return cut === 0 ? shown : { ...shown, not_shown: cut };
}
