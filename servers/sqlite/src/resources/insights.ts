import { resource } from "../context.ts";

export default resource({
  uri: "memo://insights",
  name: "insights",
  title: "Business insights memo",
  description: "A living document of discovered business insights.",
  mimeType: "text/plain",
  read: (databases) => databases.insights.memo(),
  watch: (databases, changed) => databases.insights.listen(changed),
});
