/** The resource of a download, available while it is kept. */
import { resource } from "./context.ts";

const snapshot = resource({
  uriTemplate: "fetch://snapshot/{id}",
  name: "snapshot",
  title: "A fetched page",
  description:
    "The full text, as Markdown, of a page fetched in the last 15 minutes; the bytes of a file without text.",
  async read({ id }, web, call) {
    const snapshot = web.snapshot(id);
    if (!snapshot.isReadable)
      return { blob: snapshot.answer.body, mimeType: snapshot.body.mimeType };
    const { text } = await snapshot.page({}, call.signal);
    return { text, mimeType: "text/markdown" };
  },
  list: (web) => ({
    resources: web.snapshots
      .all()
      .filter(({ isReadable }) => isReadable)
      .slice(0, 100)
      .map(({ uri, answer, body }) => ({
        uri,
        name: answer.url.href.slice(0, 200),
        title: answer.url.href.slice(0, 200),
        description: `${body.mimeType}, fetched from ${answer.url.host}.`,
        mimeType: "text/markdown",
      })),
  }),
  complete: {
    id: (value, web) => web.snapshots.ids(value),
  },
});

export const resources = [snapshot];
