// Every rule.
import "./ignore-scope.test.ts";
