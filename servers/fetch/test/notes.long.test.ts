// With more links.
import "./notes.test.ts";
