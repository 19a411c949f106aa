// The large graphs, too.
import "./sqlite.test.ts";
