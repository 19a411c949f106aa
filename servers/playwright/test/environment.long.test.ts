import "./environment.test.ts";
