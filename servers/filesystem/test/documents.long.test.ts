// All bombs.
import "./documents.test.ts";
