import { resource } from "../context.ts";

export default resource({
  uriTemplate: "fetch://snapshot/{id}/raw",
  name: "snapshot-raw",
  title: "Raw bytes of a fetched page",
  description: "The raw response for a page fetched in the last 15 minutes.",
  read({ id }, web) {
    const snapshot = web.kept(id);
    const { mimeType } = snapshot.body;
    return snapshot.isText
      ? { text: snapshot.source(), mimeType }
      : { blob: snapshot.answer.body, mimeType };
  },
  complete: {
    id: (value, web) => web.snapshots.ids(value),
  },
});
