/** Rows in the order of their ids, in batches; `page` returns those after an id. */
export async function* batches<Row extends { readonly id: number }>(
  page: (after: number, limit: number) => Promise<Row[]>,
  size: number,
  start = 0,
): AsyncGenerator<Row[]> {
  for (let after = start; ; ) {
    const rows = await page(after, size);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    if (rows.length < size) return;
    after = last.id;
  }
}
