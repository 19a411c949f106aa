import { resource } from "../context.ts";
import { pageAt } from "../page/answer/fetch-page.ts";

export default resource({
  uriTemplate: "https://{+url}",
  name: "page-https",
  title: "A web page",
  description: "A page of the web as Markdown, fetched with the same restrictions as the tools.",
  read: (_, web, call, uri) => pageAt(web, uri, call.signal),
});
