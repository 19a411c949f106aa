// In memory and in a directory, and all of its settings.
import "./embedded.test.ts";
