import { GRAMMAR } from "../browser/language/help.ts";
import { resource } from "../context.ts";

export default resource({
  uri: "pw://help/checks",
  name: "assertion-help",
  title: "The language of checks and steps",
  description: "Every form of checks, targets and steps, with examples.",
  mimeType: "text/markdown",
  read: () => GRAMMAR,
});
