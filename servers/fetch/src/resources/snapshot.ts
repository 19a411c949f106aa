import { resource } from "../context.ts";

export default resource({
  uriTemplate: "fetch://snapshot/{id}",
  name: "snapshot",
  title: "A fetched page",
  description: "The full text, as Markdown, of a page fetched in the last 15 minutes.",
  mimeType: "text/markdown",
  async read({ id }, web, call) {
    const page = await web.kept(id).page({ format: "auto", includeLinks: true }, call.signal);
    return page.text;
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
