// Every rule.
import "./ignore.test.ts";
