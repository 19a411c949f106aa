import "./resources.test.ts";
