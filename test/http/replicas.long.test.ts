import "./replicas.test.ts";
