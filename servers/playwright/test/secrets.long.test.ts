import "./secrets.test.ts";
