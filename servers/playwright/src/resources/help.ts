import { GRAMMAR } from "../browser/language/help.ts";
import { resource } from "../context.ts";

export default resource({
  uri: "pw://help/assertions",
  name: "assertion-help",
  title: "The language of assertions and steps",
  description: "Every form of assertions, targets and steps, with examples.",
  mimeType: "text/markdown",
  read: () => GRAMMAR,
});
