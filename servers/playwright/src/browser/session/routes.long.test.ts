import "./routes.test.ts";
