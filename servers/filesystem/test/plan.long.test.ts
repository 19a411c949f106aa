// Hundreds of files, too.
import "./plan.test.ts";
