import "./launch.test.ts";
