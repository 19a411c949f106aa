import { resource } from "../context.ts";
import { pageAt } from "../page/answer/fetch-page.ts";

export default resource({
  uriTemplate: "http://{+url}",
  name: "page-http",
  title: "A web page without encryption",
  description: "A page over http as Markdown, fetched with the same restrictions as the tools.",
  read: (_, web, call, uri) => pageAt(web, uri, call.signal),
});
