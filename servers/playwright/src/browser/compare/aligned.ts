/** The positions of an item in each of two lists; one is missing where items were inserted or deleted. */
export interface Pair {
  readonly before: number | undefined;
  readonly after: number | undefined;
}

/**
 * Pairs the equal items of two lists.
 *
 * @param maxEdits with more inserted and deleted items, no item is paired.
 */
export async function aligned(
  old: readonly string[],
  fresh: readonly string[],
  maxEdits = Number.POSITIVE_INFINITY,
): Promise<Pair[]> {
  const { diffArrays } = await import("diff");
  const edits = diffArrays([...old], [...fresh], { maxEditLength: maxEdits }) ?? [
    { removed: true, added: false, count: old.length },
    { removed: false, added: true, count: fresh.length },
  ];
  let [before, after] = [0, 0];
  return edits.flatMap(({ removed, added, count }) =>
    Array.from({ length: count }, () => ({
      before: added ? undefined : before++,
      after: removed ? undefined : after++,
    })),
  );
}
