// All of rendering in a browser.
import "./render.test.ts";
