import { resource } from "../context.ts";
import { complete, completeColumn, readCell } from "../database/reading/catalog.ts";

export default resource({
  uriTemplate: "blob://{database}/{table}/{column}/{rowid}",
  name: "blob",
  title: "One complete value",
  description:
    "A blob or a long text of up to 8 MiB, by the row's INTEGER PRIMARY KEY or rowid. read_query returns the URI of a large blob if the key is also selected.",
  read: ({ database, table, column, rowid }, databases, { signal }) =>
    readCell({ databases, database, signal }, { table, column, rowId: rowid }),
  complete: { ...complete, column: completeColumn },
  watch: ({ database }, databases, changed) => databases.watch.listen(database, changed),
});
